import { Controller, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { SignedByOperator } from '../api/caller.js';
import { DescribedRoute } from '../api/described-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { columnsOf, itemFrom } from '../api/lists/item.js';
import { JsonBody, NoBody, ProviderBody } from '../api/validation/json-body.js';
import { IdentifierParam, UuidParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Operator, Provider } from '../tenancy/tenant.js';
import { LaunchRequest, RevokeRequest, SessionQuery, SessionTokenRequest } from './session.request.js';
import {
  LaunchResponse,
  RevokePlayerResponse,
  RevokeResponse,
  SESSION_COLUMNS,
  SessionListResponse,
  VerifySessionResponse,
} from './session.response.js';
import { SessionService } from './session.service.js';

const VERIFIED = columnsOf(VerifySessionResponse);

@ApiTags('Sessions')
@ApiSigned()
@Controller('v1/wallet/session')
export class SessionProviderController {
  constructor(private readonly sessions: SessionService) {}

  @Post('verify')
  @HttpCode(200)
  @DescribedRoute('verifySession', {
    summary: 'Verify a session',
    description: "Returns the session's player, game and currency. The operator is not called.",
    body: SessionTokenRequest,
    errors: [
      'INVALID_REQUEST',
      'SESSION_INVALID',
      'SESSION_OF_ANOTHER_PROVIDER',
      'CONFIGURATION_UNAVAILABLE',
    ],
  })
  @ApiOkResponse({ type: VerifySessionResponse })
  async verify(
    @SignedTenant() provider: Provider,
    @ProviderBody() request: SessionTokenRequest,
  ): Promise<VerifySessionResponse> {
    return itemFrom(VERIFIED, await this.sessions.verify(provider, request.sessionToken));
  }
}

@ApiTags('Sessions')
@ApiSigned()
@SignedByOperator()
@Controller('v1/operator')
export class SessionOperatorController {
  constructor(private readonly sessions: SessionService) {}

  @Post('sessions')
  @DescribedRoute('launchSession', {
    summary: 'Launch a session',
    description: 'Creates a session, which binds a player to a game, its provider and a currency.',
    body: LaunchRequest,
    errors: ['INVALID_REQUEST', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'],
  })
  @ApiCreatedResponse({ type: LaunchResponse })
  launch(@SignedTenant() operator: Operator, @JsonBody() request: LaunchRequest): Promise<LaunchResponse> {
    return this.sessions.launch(operator, request);
  }

  @Post('sessions/:sessionId/revoke')
  @HttpCode(200)
  @DescribedRoute('revokeSession', {
    summary: 'Revoke a session',
    description:
      'Ends the session at once, then notifies its provider, once; `notification` has the outcome. A ' +
      'second call changes nothing and notifies no one; an expired session can still be revoked.',
    body: RevokeRequest,
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  })
  @ApiOkResponse({ type: RevokeResponse })
  revoke(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @UuidParam('sessionId') sessionId: string,
    @JsonBody() request: RevokeRequest,
  ): Promise<RevokeResponse> {
    return this.sessions.revoke(actor, operator, sessionId, request.reason);
  }

  @Post('players/:playerRef/revoke-sessions')
  @HttpCode(200)
  @DescribedRoute('revokePlayerSessions', {
    summary: 'Revoke all live sessions of one of your players',
    description:
      'All live sessions end, 1,000 at a time, before the first provider is notified; after a failure, send the ' +
      'request again to end the rest. The answer waits for the notifications for at most `CALLBACK_TIMEOUT_MS`; those ' +
      'not finished by then continue afterwards.',
    body: RevokeRequest,
    errors: ['INVALID_REQUEST'],
  })
  @ApiOkResponse({ type: RevokePlayerResponse })
  revokePlayer(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('playerRef') playerRef: string,
    @JsonBody() request: RevokeRequest,
  ): Promise<RevokePlayerResponse> {
    return this.sessions.revokePlayer(actor, operator, playerRef, request.reason);
  }
}

/** Contract, section 7. */
@ApiTags('Sessions')
@Controller('v1/admin/sessions')
export class SessionAdminController {
  constructor(private readonly sessions: SessionService) {}

  @Get()
  @AdminRoute('listSessions', {
    role: 'auditor',
    summary: 'Search sessions, newest first',
    sensitiveRead: ['sessions.list', 'sessions'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(SessionListResponse, SessionQuery, SESSION_COLUMNS)
  list(
    @ValidQuery() query: SessionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<SessionListResponse | StreamableFile> {
    const read = (page: SessionQuery) => this.sessions.list(page);
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
  revoke(
    @ActorOfRequest() actor: Actor,
    @UuidParam('sessionId') sessionId: string,
    @JsonBody() request: RevokeRequest,
  ): Promise<RevokeResponse> {
    return this.sessions.revoke(actor, 'any', sessionId, request.reason);
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
  notify(@ActorOfRequest() actor: Actor, @UuidParam('sessionId') sessionId: string): Promise<RevokeResponse> {
    return this.sessions.notifyAgain(actor, sessionId);
  }
}
