import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '../api/api-errors.js';
import { ProviderBody } from '../api/validation/json-body.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Provider } from '../tenancy/tenant.js';
import { SessionTokenRequest } from './session.request.js';
import { VerifySessionResponse } from './session.response.js';
import { SessionService } from './session.service.js';

@ApiTags('Sessions')
@ApiSigned()
@Controller('v1/wallet/session')
export class SessionProviderController {
  constructor(private readonly sessions: SessionService) {}

  @Post('verify')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'verifySession',
    summary: 'Verify a session',
    description: "Returns the session's player, game and currency. The operator is not called.",
  })
  @ApiBody({ type: SessionTokenRequest })
  @ApiOkResponse({ type: VerifySessionResponse })
  @ApiErrors('INVALID_REQUEST', 'SESSION_INVALID', 'SESSION_OF_ANOTHER_PROVIDER', 'CONFIGURATION_UNAVAILABLE')
  async verify(
    @SignedTenant() provider: Provider,
    @ProviderBody() request: SessionTokenRequest,
  ): Promise<VerifySessionResponse> {
    const session = await this.sessions.verify(provider, request.sessionToken);
    return {
      sessionId: session.sessionId,
      playerRef: session.playerRef,
      gameId: session.gameId,
      currency: session.currency,
      operatorId: session.operatorId,
      mode: session.mode,
      expiresAt: session.expiresAt.toISOString(),
      ...(session.language !== null && { language: session.language }),
      ...(session.country !== null && { country: session.country }),
    };
  }
}
