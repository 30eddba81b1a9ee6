import { Controller, Get, HttpCode, Param, Patch, Post, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { Audited } from '../../audit/audited-route.js';
import { answerOf, answersOf } from '../../api/answer.js';
import { ApiErrors } from '../../api/api-errors.js';
import { JsonBody } from '../../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
import { ListQuery } from '../../api/lists/page.js';
import {
  PAUSE_DESCRIPTION,
  PAUSE_EXAMPLES,
  PauseRequest,
  RESUME_DESCRIPTION,
  ResumeRequest,
} from '../pauses/pause.request.js';
import { PausesService } from '../pauses/pauses.service.js';
import { ChangeOperatorRequest, CreateOperatorRequest } from './operator.request.js';
import { OVERLAP_SECONDS, RotatedSecret, RotateSecretRequest } from '../secrets/secret.request.js';
import { TenantAdministration } from './tenant-administration.js';
import {
  CreatedOperatorResponse,
  OPERATOR_COLUMNS,
  OperatorListResponse,
  OperatorResponse,
} from './tenant.response.js';

/** Contract, section 7. */
@ApiTags('Operators')
@Controller('v1/admin/operators')
export class OperatorsAdminController {
  constructor(
    private readonly tenants: TenantAdministration,
    private readonly pauses: PausesService,
  ) {}

  @Post()
  @RequiresRole('admin')
  @Audited('operator.create', 'operator:{id}')
  @ApiOperation({
    operationId: 'createOperator',
    summary: 'Create an operator',
    description: 'Only this answer contains the secret.',
  })
  @ApiBody({ type: CreateOperatorRequest })
  @ApiCreatedResponse({ type: CreatedOperatorResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'CONFLICT')
  create(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: CreateOperatorRequest,
  ): Promise<CreatedOperatorResponse> {
    return this.tenants.createOperator(actor, request);
  }

  @Get()
  @RequiresRole('support')
  @ApiOperation({ operationId: 'listOperators', summary: 'List the operators, ordered by id' })
  @ApiList(OperatorListResponse, ListQuery, OPERATOR_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED')
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<OperatorListResponse | StreamableFile> {
    const read = async (page: ListQuery) =>
      answersOf(OperatorResponse, await this.tenants.list('OPERATOR', page));
    return answerList(format, { query, name: 'operators', columns: OPERATOR_COLUMNS, read });
  }

  @Get(':id')
  @RequiresRole('support')
  @ApiOperation({ operationId: 'getOperator', summary: 'Read an operator' })
  @ApiOkResponse({ type: OperatorResponse })
  @ApiErrors('UNAUTHORIZED', 'NOT_FOUND')
  async find(@Param('id') id: string): Promise<OperatorResponse> {
    return answerOf(OperatorResponse, await this.tenants.find('OPERATOR', id));
  }

  @Patch(':id')
  @RequiresRole('admin')
  @Audited('operator.change', 'operator:{id}')
  @ApiOperation({
    operationId: 'changeOperator',
    summary: 'Change an operator',
    description:
      'An absent field is unchanged; null resets it to its default. Takes effect on every instance within a second.',
  })
  @ApiBody({ type: ChangeOperatorRequest, examples: { rename: { value: { name: 'Example Casino' } } } })
  @ApiOkResponse({ type: OperatorResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async change(
    @ActorOfRequest() actor: Actor,
    @Param('id') id: string,
    @JsonBody() request: ChangeOperatorRequest,
  ): Promise<OperatorResponse> {
    return answerOf(OperatorResponse, await this.tenants.changeOperator(actor, id, request));
  }

  @Post(':id/secret/rotate')
  @HttpCode(200)
  @RequiresRole('admin')
  @Audited('operator.rotate-secret', 'operator:{id}')
  @ApiOperation({
    operationId: 'rotateOperatorSecret',
    summary: 'Give an operator a new secret',
    description: 'A second rotation within the overlap drops the oldest secret.',
  })
  @ApiBody({ type: RotateSecretRequest, required: false })
  @ApiOkResponse({ type: RotatedSecret })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  rotateSecret(
    @ActorOfRequest() actor: Actor,
    @Param('id') id: string,
    @JsonBody() request: RotateSecretRequest,
  ): Promise<RotatedSecret> {
    return this.tenants.rotateSecret(actor, 'OPERATOR', id, request.overlapSeconds ?? OVERLAP_SECONDS);
  }

  @Post(':id/pause')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('operator.pause', 'operator:{id}')
  @ApiOperation({
    operationId: 'pauseOperator',
    summary: 'Pause an operator',
    description: "Its launches and its players' BETs are 503 `OPERATOR_NOT_CONFIGURED`. " + PAUSE_DESCRIPTION,
  })
  @ApiBody({ type: PauseRequest, examples: PAUSE_EXAMPLES })
  @ApiOkResponse({ type: OperatorResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async pause(
    @ActorOfRequest() actor: Actor,
    @Param('id') id: string,
    @JsonBody() request: PauseRequest,
  ): Promise<OperatorResponse> {
    await this.pauses.pause(actor, 'OPERATOR', id, request);
    return answerOf(OperatorResponse, await this.tenants.find('OPERATOR', id));
  }

  @Post(':id/resume')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('operator.resume', 'operator:{id}')
  @ApiOperation({
    operationId: 'resumeOperator',
    summary: 'End the pause of an operator',
    description: RESUME_DESCRIPTION,
  })
  @ApiBody({ type: ResumeRequest, required: false })
  @ApiOkResponse({ type: OperatorResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async resume(
    @ActorOfRequest() actor: Actor,
    @Param('id') id: string,
    @JsonBody() request: ResumeRequest,
  ): Promise<OperatorResponse> {
    await this.pauses.resume(actor, 'OPERATOR', id, request);
    return answerOf(OperatorResponse, await this.tenants.find('OPERATOR', id));
  }
}
