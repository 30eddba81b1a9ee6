import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { FREE_SPINS_REF_SCHEMA, FREE_SPINS_REF_WORDS } from '../api/validation/free-spins-ref.js';

/*
 * Bodies of the calls to providers, and the answers that Croupier reads, for the OpenAPI documents. Contract, section 6.
 */

/** The routes that a provider implements. */
export const CALLBACK_ROUTES = [
  '/v1/game/free-spins/grant',
  '/v1/game/free-spins/status',
  '/v1/game/free-spins/cancel',
  '/v1/game/session/revoke',
] as const;
export type CallbackRoute = (typeof CALLBACK_ROUTES)[number];

const PlayerRef = () => ApiProperty({ example: 'player-42' });
const GameId = () => ApiProperty({ example: 'sandbox-slots' });

export class GrantCallbackRequest {
  @ApiProperty({
    example: 'summer-2026-player-42',
    description: "The platform's identifier of the grant; it may arrive again",
  })
  requestRef: string;

  @PlayerRef()
  playerRef: string;

  @GameId()
  gameId: string;

  @ApiProperty({ type: 'integer', minimum: 1, example: 10, description: 'Number of spins' })
  spins: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 20,
    description: 'Stake of a spin in minor units; 0: your default stake',
  })
  betAmountMinor: number;

  @ApiProperty({ example: 'EUR', pattern: '^[A-Z]{3}$' })
  currency: string;
}

export class GrantCallbackResponse {
  @ApiProperty({
    ...FREE_SPINS_REF_SCHEMA,
    example: 'spins-7',
    description: `Your identifier of the grant, which winnings name as freeSpinsRef: ${FREE_SPINS_REF_WORDS}`,
  })
  externalRef: string;
}

export class StatusCallbackRequest {
  @ApiProperty({ example: 'spins-7' })
  externalRef: string;

  @PlayerRef()
  playerRef: string;

  @GameId()
  gameId: string;
}

export class StatusCallbackResponse {
  @ApiProperty({ type: 'integer', minimum: 0, example: 9 })
  remainingSpins: number;

  @ApiProperty({ example: false })
  completed: boolean;
}

export class CancelCallbackRequest extends StatusCallbackRequest {}

export class RevokeCallbackRequest {
  @ApiProperty({ format: 'uuid', description: 'Identifies this revocation' })
  revocationRef: string;

  @ApiProperty({ format: 'uuid', description: 'As `session/verify` returned it' })
  sessionId: string;

  @PlayerRef()
  playerRef: string;

  @GameId()
  gameId: string;

  @ApiProperty({ enum: ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'], description: 'Why it was revoked' })
  reason: string;

  @ApiProperty({ format: 'date-time' })
  revokedAt: string;
}

export const CALLBACK_MODELS: Type<object>[] = [
  GrantCallbackRequest,
  GrantCallbackResponse,
  StatusCallbackRequest,
  StatusCallbackResponse,
  CancelCallbackRequest,
  RevokeCallbackRequest,
];
