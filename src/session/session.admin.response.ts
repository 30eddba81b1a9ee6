import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Expose } from 'class-transformer';
import { ExposeUnlessNull } from '../api/answer.js';
import { IdentifierField, QueryChoiceField } from '../api/validation/fields.js';
import type { Columns } from '../api/lists/list.js';
import { NextCursor, TimePageQuery } from '../api/lists/time-page.js';
import type { RevokeReason } from './session.entity.js';

const TRUTH = ['true', 'false'] as const;

/** Contract, section 7. An absent filter restricts nothing. */
export class SessionQuery extends TimePageQuery {
  @IdentifierField({ presence: 'optional', example: 'sandbox-operator' })
  operatorId?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-provider' })
  providerId?: string;

  @IdentifierField({ presence: 'optional', example: 'player-42' })
  playerRef?: string;

  @IdentifierField({ presence: 'optional', example: 'sandbox-slots' })
  gameId?: string;

  @QueryChoiceField(TRUTH, { description: '`true`: only revoked sessions; `false`: only the others' })
  revoked?: 'true' | 'false';
}

/** A session for the support desk, without its token. */
export class SessionItem {
  @Expose()
  @ApiProperty({ format: 'uuid' })
  sessionId: string;

  @Expose()
  @ApiProperty({ enum: ['ACTIVE', 'EXPIRED', 'REVOKED'], description: 'The current status' })
  status: 'ACTIVE' | 'EXPIRED' | 'REVOKED';

  @Expose()
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;

  @Expose()
  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @Expose()
  @ApiProperty({ example: 'player-42' })
  playerRef: string;

  @Expose()
  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;

  @Expose()
  @ApiProperty({ example: 'EUR' })
  currency: string;

  @Expose()
  @ApiProperty({ enum: ['REAL', 'DEMO'] })
  mode: 'REAL' | 'DEMO';

  @ExposeUnlessNull()
  @ApiPropertyOptional({ example: 'en' })
  language?: string;

  @ExposeUnlessNull()
  @ApiPropertyOptional({ example: 'DE' })
  country?: string;

  @Expose()
  @ApiProperty({ format: 'date-time' })
  createdAt: Date;

  @Expose()
  @ApiProperty({ format: 'date-time' })
  expiresAt: Date;

  @ExposeUnlessNull()
  @ApiPropertyOptional({ format: 'date-time' })
  revokedAt?: Date;

  @ExposeUnlessNull()
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
