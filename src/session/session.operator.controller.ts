import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { ApiErrors } from '../api/api-errors.js';
import { SignedBy } from '../api/caller.js';
import { IdentifierParam, UuidParam } from '../api/validation/path.js';
import { JsonBody } from '../api/validation/json-body.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Operator } from '../tenancy/tenant.js';
import { LaunchRequest, RevokeRequest } from './session.request.js';
import { LaunchResponse, revocation, RevokePlayerResponse, RevokeResponse } from './session.response.js';
import { SessionService } from './session.service.js';

@ApiTags('Sessions')
@ApiSigned()
@SignedBy('operator')
@Controller('v1/operator')
export class SessionOperatorController {
  constructor(private readonly sessions: SessionService) {}

  @Post('sessions')
  @ApiOperation({
    operationId: 'launchSession',
    summary: 'Launch a session',
    description: 'Creates a session, which binds a player to a game, its provider and a currency.',
  })
  @ApiBody({ type: LaunchRequest })
  @ApiCreatedResponse({ type: LaunchResponse })
  @ApiErrors('INVALID_REQUEST', 'GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED')
  async launch(
    @SignedTenant() operator: Operator,
    @JsonBody() request: LaunchRequest,
  ): Promise<LaunchResponse> {
    const { session, sessionToken, launchUrl } = await this.sessions.launch(operator, request);
    return {
      sessionToken,
      sessionId: session.sessionId,
      gameId: session.gameId,
      providerId: session.providerId,
      mode: session.mode,
      expiresAt: session.expiresAt.toISOString(),
      ...(launchUrl !== undefined && { launchUrl }),
    };
  }

  @Post('sessions/:sessionId/revoke')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'revokeSession',
    summary: 'Revoke a session',
    description:
      'Ends the session at once, then notifies its provider, once; `notification` has the outcome. A ' +
      'second call changes nothing and notifies no one; an expired session can still be revoked.',
  })
  @ApiBody({ type: RevokeRequest })
  @ApiOkResponse({ type: RevokeResponse })
  @ApiErrors('INVALID_REQUEST', 'NOT_FOUND')
  async revoke(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @UuidParam('sessionId') sessionId: string,
    @JsonBody() request: RevokeRequest,
  ): Promise<RevokeResponse> {
    return revocation(await this.sessions.revoke(actor, operator, sessionId, request.reason));
  }

  @Post('players/:playerRef/revoke-sessions')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'revokePlayerSessions',
    summary: 'Revoke all live sessions of one of your players',
    description:
      'All sessions end at once, before the first provider is notified. The answer waits for the ' +
      'notifications for at most `CALLBACK_TIMEOUT_MS`; those not finished by then continue afterwards.',
  })
  @ApiBody({ type: RevokeRequest })
  @ApiOkResponse({ type: RevokePlayerResponse })
  @ApiErrors('INVALID_REQUEST')
  async revokePlayer(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('playerRef') playerRef: string,
    @JsonBody() request: RevokeRequest,
  ): Promise<RevokePlayerResponse> {
    const revoked = await this.sessions.revokePlayer(actor, operator, playerRef, request.reason);
    return { revoked: revoked.map((session) => session.sessionId) };
  }
}
