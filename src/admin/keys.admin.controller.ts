import { Controller, Delete, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { Audited } from '../audit/audited-route.js';
import { answerOf, answersOf } from '../api/answer.js';
import { ApiErrors } from '../api/api-errors.js';
import { UuidParam } from '../api/validation/path.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ListQuery } from '../api/lists/page.js';
import { ValidQuery } from '../api/validation/query.js';
import {
  CreatedKeyResponse,
  CreateKeyRequest,
  KEY_COLUMNS,
  KeyListResponse,
  KeyResponse,
} from './key.request.js';
import { KeyAdministration } from './key-administration.service.js';
import { RequiresRole } from './requires-role.js';

/** Contract, section 7. */
@ApiTags('Keys')
@Controller('v1/admin/keys')
export class KeysAdminController {
  constructor(private readonly keys: KeyAdministration) {}

  @Post()
  @RequiresRole('admin')
  @Audited('key.create', 'keys')
  @ApiOperation({
    operationId: 'createKey',
    summary: 'Create an admin key',
    description: 'Only this answer contains the key.',
  })
  @ApiBody({ type: CreateKeyRequest })
  @ApiCreatedResponse({ type: CreatedKeyResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  async create(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: CreateKeyRequest,
  ): Promise<CreatedKeyResponse> {
    const { stored, key } = await this.keys.create(actor, request);
    return answerOf(CreatedKeyResponse, { ...stored, key });
  }

  @Get()
  @RequiresRole('admin')
  @Audited('key.list', 'keys')
  @ApiOperation({
    operationId: 'listKeys',
    summary: 'List the live admin keys, newest first',
    description: 'The list does not contain the keys themselves.',
  })
  @ApiList(KeyListResponse, ListQuery, KEY_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  list(
    @ActorOfRequest() actor: Actor,
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<KeyListResponse | StreamableFile> {
    const read = async (page: ListQuery) => answersOf(KeyResponse, await this.keys.list(actor, page));
    return answerList(format, { query, name: 'keys', columns: KEY_COLUMNS, read });
  }

  @Delete(':id')
  @NoBody()
  @RequiresRole('admin')
  @Audited('key.revoke', 'key:{id}')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeKey',
    summary: 'Revoke an admin key',
    description: 'The next request with it is refused, on every instance.',
  })
  @ApiNoContentResponse({ description: 'revoked' })
  @ApiErrors('UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  revoke(@ActorOfRequest() actor: Actor, @UuidParam('id') id: string): Promise<void> {
    return this.keys.revoke(actor, id);
  }
}
