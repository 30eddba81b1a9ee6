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
import { ChangeProviderRequest, CreateProviderRequest } from './provider.request.js';
import { OVERLAP_SECONDS, RotatedSecret, RotateSecretRequest } from '../secrets/secret.request.js';
import { TenantAdministration } from './tenant-administration.js';
import {
  CreatedProviderResponse,
  PROVIDER_COLUMNS,
  ProviderListResponse,
  ProviderResponse,
} from './tenant.response.js';

/** Contract, section 7. */
@ApiTags('Providers')
@Controller('v1/admin/providers')
export class ProvidersAdminController {
  constructor(
    private readonly tenants: TenantAdministration,
    private readonly pauses: PausesService,
  ) {}

  @Post()
  @RequiresRole('admin')
  @Audited('provider.create', 'provider:{id}')
  @ApiOperation({
    operationId: 'createProvider',
    summary: 'Create a provider',
    description: 'Only this answer contains the secret.',
  })
  @ApiBody({ type: CreateProviderRequest })
  @ApiCreatedResponse({ type: CreatedProviderResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'CONFLICT')
  create(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: CreateProviderRequest,
  ): Promise<CreatedProviderResponse> {
    return this.tenants.createProvider(actor, request);
  }

  @Get()
  @RequiresRole('support')
  @ApiOperation({ operationId: 'listProviders', summary: 'List the providers, ordered by id' })
  @ApiList(ProviderListResponse, ListQuery, PROVIDER_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED')
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<ProviderListResponse | StreamableFile> {
    const read = async (page: ListQuery) =>
      answersOf(ProviderResponse, await this.tenants.list('PROVIDER', page));
    return answerList(format, { query, name: 'providers', columns: PROVIDER_COLUMNS, read });
  }

  @Get(':id')
  @RequiresRole('support')
  @ApiOperation({ operationId: 'getProvider', summary: 'Read a provider' })
  @ApiOkResponse({ type: ProviderResponse })
  @ApiErrors('UNAUTHORIZED', 'NOT_FOUND')
  async find(@Param('id') id: string): Promise<ProviderResponse> {
    return answerOf(ProviderResponse, await this.tenants.find('PROVIDER', id));
  }

  @Patch(':id')
  @RequiresRole('admin')
  @Audited('provider.change', 'provider:{id}')
  @ApiOperation({
    operationId: 'changeProvider',
    summary: 'Change a provider',
    description:
      'An absent field is unchanged; null resets it to its default. Takes effect on every instance within a second.',
  })
  @ApiBody({ type: ChangeProviderRequest, examples: { rename: { value: { name: 'Acme Games' } } } })
  @ApiOkResponse({ type: ProviderResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async change(
    @ActorOfRequest() actor: Actor,
    @Param('id') id: string,
    @JsonBody() request: ChangeProviderRequest,
  ): Promise<ProviderResponse> {
    return answerOf(ProviderResponse, await this.tenants.changeProvider(actor, id, request));
  }

  @Post(':id/secret/rotate')
  @HttpCode(200)
  @RequiresRole('admin')
  @Audited('provider.rotate-secret', 'provider:{id}')
  @ApiOperation({
    operationId: 'rotateProviderSecret',
    summary: 'Give a provider a new secret',
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
    return this.tenants.rotateSecret(actor, 'PROVIDER', id, request.overlapSeconds ?? OVERLAP_SECONDS);
  }

  @Post(':id/pause')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('provider.pause', 'provider:{id}')
  @ApiOperation({
    operationId: 'pauseProvider',
    summary: 'Pause a provider',
    description: 'Launches of its games and BETs in them are 503 `GAME_NOT_CONFIGURED`. ' + PAUSE_DESCRIPTION,
  })
  @ApiBody({ type: PauseRequest, examples: PAUSE_EXAMPLES })
  @ApiOkResponse({ type: ProviderResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async pause(
    @ActorOfRequest() actor: Actor,
    @Param('id') id: string,
    @JsonBody() request: PauseRequest,
  ): Promise<ProviderResponse> {
    await this.pauses.pause(actor, 'PROVIDER', id, request);
    return answerOf(ProviderResponse, await this.tenants.find('PROVIDER', id));
  }

  @Post(':id/resume')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('provider.resume', 'provider:{id}')
  @ApiOperation({
    operationId: 'resumeProvider',
    summary: 'End the pause of a provider',
    description: RESUME_DESCRIPTION,
  })
  @ApiBody({ type: ResumeRequest, required: false })
  @ApiOkResponse({ type: ProviderResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async resume(
    @ActorOfRequest() actor: Actor,
    @Param('id') id: string,
    @JsonBody() request: ResumeRequest,
  ): Promise<ProviderResponse> {
    await this.pauses.resume(actor, 'PROVIDER', id, request);
    return answerOf(ProviderResponse, await this.tenants.find('PROVIDER', id));
  }
}
