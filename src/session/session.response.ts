import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EXAMPLE_TOKEN } from '../openapi/examples.js';
import type { Session } from './session.entity.js';

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
  @ApiProperty({ format: 'date-time' })
  expiresAt: string;
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
  @ApiProperty({ format: 'date-time' })
  revokedAt: string;
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

export interface RevokedSession {
  readonly session: Session;
  readonly revokedAt: Date;
  readonly notification: RevocationNotification;
}

/** The response for a revoked session, with the outcome of its notification. Contract, section 5. */
export function revocation({ session, revokedAt, notification }: RevokedSession): RevokeResponse {
  const { sessionId } = session;
  return { sessionId, status: 'REVOKED', revokedAt: revokedAt.toISOString(), notification };
}
