import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../api/lists/list.js';
import { EXAMPLE_TOKEN } from '../openapi/examples.js';
import { columnsOf, itemFrom } from '../api/lists/item.js';
import { REVOKE_REASONS, type RevokeReason, type Session } from './session.entity.js';

const MAX_BET = {
  type: 'integer',
  example: 100000,
  description: 'The highest stake of a BET, in minor units, if the operator set one',
} as const;

export class VerifySessionResponse {
  @ApiProperty({ format: 'uuid' })
  sessionId: string;
  @ApiProperty({ example: 'player-42' })
  playerRef: string;
  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;
  @ApiProperty({ enum: ['REAL', 'DEMO'] })
  mode: 'REAL' | 'DEMO';
  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: Date;
  @ApiPropertyOptional({ example: 'en' })
  language?: string;
  @ApiPropertyOptional({ example: 'DE' })
  country?: string;
  @ApiPropertyOptional(MAX_BET)
  maxBetMinor?: number;
  @ApiPropertyOptional({ example: 'MT' })
  jurisdiction?: string;
  @ApiPropertyOptional({ type: 'integer', example: 3600 })
  realityCheckSeconds?: number;
}

export class LaunchResponse {
  @ApiProperty({ description: '256 random bits in base64url; shown once', example: EXAMPLE_TOKEN })
  sessionToken: string;
  @ApiProperty({ format: 'uuid' })
  sessionId: string;
  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;
  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;
  @ApiProperty({ enum: ['REAL', 'DEMO'] })
  mode: 'REAL' | 'DEMO';
  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt: Date;
  @ApiPropertyOptional({
    description: "The game's launch address, if it has one, with the token as its `sessionToken`",
    example: `https://play.acme.example/book?sessionToken=${EXAMPLE_TOKEN}`,
  })
  launchUrl?: string;
}

/** The outcome of notifying the provider of a revocation. Contract, section 5. */
export class RevocationNotification {
  @ApiProperty({ description: 'Whether the provider answered 200' })
  delivered: boolean;
  @ApiPropertyOptional({
    type: 'integer',
    description: "The provider's HTTP status, if it answered",
    example: 200,
  })
  status?: number;
  @ApiPropertyOptional({ description: 'Why it was not delivered' })
  error?: string;
}

export class RevokeResponse {
  @ApiProperty({ format: 'uuid' })
  sessionId: string;
  @ApiProperty({ enum: ['REVOKED'] })
  status: 'REVOKED';
  @ApiProperty({ type: 'string', format: 'date-time' })
  revokedAt: Date;
  @ApiProperty({ type: RevocationNotification })
  notification: RevocationNotification;
}

export class RevokePlayerResponse {
  @ApiProperty({
    type: [String],
    description: 'The sessions that this call ended',
    example: ['0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11'],
  })
  revoked: string[];
}

/** A session for the support desk, without its token. */
export class SessionItem {
  @ApiProperty({ format: 'uuid' })
  sessionId: string;

  @ApiProperty({ enum: ['ACTIVE', 'EXPIRED', 'REVOKED'], description: 'The current status' })
  status: 'ACTIVE' | 'EXPIRED' | 'REVOKED';

  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;

  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ example: 'player-42' })
  playerRef: string;

  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiProperty({ enum: ['REAL', 'DEMO'] })
  mode: 'REAL' | 'DEMO';

  @ApiPropertyOptional({ example: 'en' })
  language?: string;

  @ApiPropertyOptional({ example: 'DE' })
  country?: string;

  @ApiPropertyOptional(MAX_BET)
  maxBetMinor?: number;

  @ApiPropertyOptional({ example: 'MT' })
  jurisdiction?: string;

  @ApiPropertyOptional({ type: 'integer', example: 3600 })
  realityCheckSeconds?: number;

  @ApiProperty({ format: 'date-time' })
  createdAt: Date;

  @ApiProperty({ format: 'date-time' })
  expiresAt: Date;

  @ApiPropertyOptional({ format: 'date-time' })
  revokedAt?: Date;

  @ApiPropertyOptional({ enum: REVOKE_REASONS })
  revokeReason?: RevokeReason;
}

export const SESSION_COLUMNS = columnsOf(SessionItem);

export class SessionListResponse extends listOf(SessionItem) {}

export function sessionItem(session: Session): SessionItem {
  const status = session.revokedAt ? 'REVOKED' : session.ended ? 'EXPIRED' : 'ACTIVE';
  return itemFrom(SESSION_COLUMNS, { ...session, status });
}
