import { Controller, Delete, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { UuidParam } from '../api/validation/path.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ListQuery } from '../api/lists/page.js';
import { ValidQuery } from '../api/validation/query.js';
import { AdminRoute } from './admin-route.js';
import { CreateKeyRequest } from './key.request.js';
import { CreatedKeyResponse, KEY_COLUMNS, KeyListResponse } from './key.response.js';
import { KeyAdministration } from './key-administration.service.js';

/** Contract, section 7. */
@ApiTags('Keys')
@Controller('v1/admin/keys')
export class KeysAdminController {
  constructor(private readonly keys: KeyAdministration) {}

  @Post()
  @AdminRoute('createKey', {
    role: 'admin',
    summary: 'Create an admin key',
    description: 'Only this answer contains the key.',
    body: CreateKeyRequest,
    audited: ['key.create', 'keys'],
  })
  @ApiCreatedResponse({ type: CreatedKeyResponse })
  create(@ActorOfRequest() actor: Actor, @JsonBody() request: CreateKeyRequest): Promise<CreatedKeyResponse> {
    return this.keys.create(actor, request);
  }

  @Get()
  @AdminRoute('listKeys', {
    role: 'admin',
    summary: 'List the admin keys that are not revoked, newest first',
    description:
      'The list does not contain the keys themselves. Expired keys are in it until they are revoked.',
    audited: ['key.list', 'keys'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(KeyListResponse, ListQuery, KEY_COLUMNS)
  list(
    @ActorOfRequest() actor: Actor,
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<KeyListResponse | StreamableFile> {
    const read = (page: ListQuery) => this.keys.list(actor, page);
    return answerList(format, { query, name: 'keys', columns: KEY_COLUMNS, read });
  }

  @Delete(':id')
  @NoBody()
  @HttpCode(204)
  @AdminRoute('revokeKey', {
    role: 'admin',
    summary: 'Revoke an admin key',
    description: 'The next request with it is refused, on every instance.',
    audited: ['key.revoke', 'key:{id}'],
    errors: ['NOT_FOUND'],
  })
  @ApiNoContentResponse({ description: 'revoked' })
  revoke(@ActorOfRequest() actor: Actor, @UuidParam('id') id: string): Promise<void> {
    return this.keys.revoke(actor, id);
  }
}
