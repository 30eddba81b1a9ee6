import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { RevokedSession } from './session.service.js';

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
  @ApiProperty({ format: 'date-time' })
  expiresAt: string;
  @ApiPropertyOptional({ example: 'en' })
  language?: string;
  @ApiPropertyOptional({ example: 'DE' })
  country?: string;
}

export class LaunchResponse {
  @ApiProperty({ description: '256 random bits in base64url; shown once' })
  sessionToken: string;
  @ApiProperty({ format: 'uuid' })
  sessionId: string;
  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;
  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;
  @ApiProperty({ enum: ['REAL', 'DEMO'] })
  mode: 'REAL' | 'DEMO';
  @ApiProperty({ format: 'date-time' })
  expiresAt: string;
  @ApiPropertyOptional({ description: "The game's launch address with the token, where the game has one" })
  launchUrl?: string;
}

export class RevocationNotification {
  @ApiProperty({ description: 'Whether the provider answered 200' })
  delivered: boolean;
  @ApiPropertyOptional({ description: "The provider's HTTP status, where it answered" })
  status?: number;
  @ApiPropertyOptional()
  error?: string;
}

export class RevokeResponse {
  @ApiProperty({ format: 'uuid' })
  sessionId: string;
  @ApiProperty({ enum: ['REVOKED'] })
  status: 'REVOKED';
  @ApiProperty({ format: 'date-time' })
  revokedAt: string;
  @ApiProperty({ type: RevocationNotification })
  notification: RevocationNotification;
}

export class RevokePlayerResponse {
  @ApiProperty({ type: [String], description: 'The sessions that this call ended' })
  revoked: string[];
}

/** A session that ended, and what its provider was told. Contract, section 5. */
export function revocation({ session, revokedAt, notification }: RevokedSession): RevokeResponse {
  const { sessionId } = session;
  return { sessionId, status: 'REVOKED', revokedAt: revokedAt.toISOString(), notification };
}
