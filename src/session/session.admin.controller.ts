import { Controller, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { Audited } from '../audit/audited-route.js';
import { SensitiveRead } from '../audit/sensitive-read.js';
import { ApiErrors } from '../api/api-errors.js';
import { UuidParam } from '../api/validation/path.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ValidQuery } from '../api/validation/query.js';
import { SESSION_COLUMNS, SessionListResponse, SessionQuery } from './session.admin.response.js';
import { SessionDesk } from './session-desk.service.js';
import { RevokeRequest } from './session.request.js';
import { revocation, RevokeResponse } from './session.response.js';
import { SessionService } from './session.service.js';

/** Contract, section 7. */
@ApiTags('Sessions')
@Controller('v1/admin/sessions')
export class SessionAdminController {
  constructor(
    private readonly sessions: SessionService,
    private readonly desk: SessionDesk,
  ) {}

  @Get()
  @RequiresRole('support')
  @SensitiveRead('sessions.list', 'sessions')
  @ApiOperation({ operationId: 'listSessions', summary: 'Search sessions, newest first' })
  @ApiList(SessionListResponse, SessionQuery, SESSION_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  list(
    @ValidQuery() query: SessionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<SessionListResponse | StreamableFile> {
    const read = (page: SessionQuery) => this.desk.list(page);
    return answerList(format, { query, name: 'sessions', columns: SESSION_COLUMNS, read });
  }

  @Post(':sessionId/revoke')
  @RequiresRole('support')
  @Audited('session.revoke', 'session:{sessionId}')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'revokeSession',
    summary: 'Revoke a session of any operator',
    description:
      'Ends the session at once and notifies its provider, once. A second call changes nothing and notifies no one.',
  })
  @ApiBody({ type: RevokeRequest })
  @ApiOkResponse({ type: RevokeResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async revoke(
    @ActorOfRequest() actor: Actor,
    @UuidParam('sessionId') sessionId: string,
    @JsonBody() request: RevokeRequest,
  ): Promise<RevokeResponse> {
    return revocation(await this.sessions.revoke(actor, 'any', sessionId, request.reason));
  }

  @Post(':sessionId/notify')
  @NoBody()
  @RequiresRole('support')
  @Audited('session.notify', 'session:{sessionId}')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'resendRevocation',
    summary: 'Send an undelivered revocation once more',
    description: 'Sends it with the same revocationRef. A 409 if it was already delivered or is under way.',
  })
  @ApiOkResponse({ type: RevokeResponse })
  @ApiErrors('UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT')
  async notify(
    @ActorOfRequest() actor: Actor,
    @UuidParam('sessionId') sessionId: string,
  ): Promise<RevokeResponse> {
    return revocation(await this.sessions.notifyAgain(actor, sessionId));
  }
}
