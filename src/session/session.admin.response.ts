import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IdentifierField, QueryChoiceField } from '../http/validation/fields.js';
import type { Columns } from '../http/lists/list.js';
import { NextCursor, TimePageQuery } from '../http/lists/time-page.js';
import type { RevokeReason } from './session.entity.js';

const TRUTH = ['true', 'false'] as const;

/** Contract, section 7. What is left out restricts nothing. */
export class SessionQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
  providerId?: string;

  @IdentifierField({ presence: 'optional', example: 'player-42' })
  playerRef?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
  gameId?: string;

  @QueryChoiceField(TRUTH, { description: 'Only those that were revoked, or only the others' })
  revoked?: 'true' | 'false';
}

/** A session as the desk sees it; never its token. What it does not have is absent. */
export class SessionItem {
  @ApiProperty({ format: 'uuid' })
  sessionId: string;
  @ApiProperty({ enum: ['ACTIVE', 'EXPIRED', 'REVOKED'], description: 'As it stands now' })
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
  @ApiProperty({ format: 'date-time' })
  createdAt: Date;
  @ApiProperty({ format: 'date-time' })
  expiresAt: Date;
  @ApiPropertyOptional({ format: 'date-time' })
  revokedAt?: Date;
  @ApiPropertyOptional({ enum: ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'] })
  revokeReason?: RevokeReason;
}

export const SESSION_COLUMNS: Columns<SessionItem> = {
  sessionId: true,
  status: true,
  operatorId: true,
  providerId: true,
  playerRef: true,
  gameId: true,
  currency: true,
  mode: true,
  language: true,
  country: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
  revokeReason: true,
};

export class SessionListResponse extends NextCursor {
  @ApiProperty({ type: [SessionItem] })
  items: SessionItem[];
}
