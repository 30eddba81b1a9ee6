import { Controller, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
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
  @AdminRoute('listSessions', {
    role: 'support',
    summary: 'Search sessions, newest first',
    sensitiveRead: ['sessions.list', 'sessions'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(SessionListResponse, SessionQuery, SESSION_COLUMNS)
  list(
    @ValidQuery() query: SessionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<SessionListResponse | StreamableFile> {
    const read = (page: SessionQuery) => this.desk.list(page);
    return answerList(format, { query, name: 'sessions', columns: SESSION_COLUMNS, read });
  }

  @Post(':sessionId/revoke')
  @HttpCode(200)
  @AdminRoute('revokeSession', {
    role: 'support',
    summary: 'Revoke a session of any operator',
    description:
      'Ends the session at once and notifies its provider, once. A second call changes nothing and notifies no one.',
    body: RevokeRequest,
    audited: ['session.revoke', 'session:{sessionId}'],
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: RevokeResponse })
  async revoke(
    @ActorOfRequest() actor: Actor,
    @UuidParam('sessionId') sessionId: string,
    @JsonBody() request: RevokeRequest,
  ): Promise<RevokeResponse> {
    return revocation(await this.sessions.revoke(actor, 'any', sessionId, request.reason));
  }

  @Post(':sessionId/notify')
  @NoBody()
  @HttpCode(200)
  @AdminRoute('resendRevocation', {
    role: 'support',
    summary: 'Send an undelivered revocation once more',
    description: 'Sends it with the same revocationRef. A 409 if it was already delivered or is under way.',
    audited: ['session.notify', 'session:{sessionId}'],
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @ApiOkResponse({ type: RevokeResponse })
  async notify(
    @ActorOfRequest() actor: Actor,
    @UuidParam('sessionId') sessionId: string,
  ): Promise<RevokeResponse> {
    return revocation(await this.sessions.notifyAgain(actor, sessionId));
  }
}
