import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { bigInteger, bytes, instant, integer, nullable, secret, text, uuid } from '../database/columns.js';
import { ended } from './session.sql.js';

export const REVOKE_REASONS = ['KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER'] as const;
export type RevokeReason = (typeof REVOKE_REASONS)[number];

/** A player's session with one game of one provider. Contract, section 5. */
@Entity({ name: 'sessions', synchronize: false })
export class Session {
  @PrimaryColumn(uuid('session_id'))
  sessionId: string;

  /** SHA-256 of the token. */
  @Column(secret(bytes('token_hash')))
  tokenHash: Buffer;

  @Column(text('operator_id'))
  operatorId: string;

  @Column(text('provider_id'))
  providerId: string;

  @Column(text('player_ref'))
  playerRef: string;

  @Column(text('game_id'))
  gameId: string;

  @Column(text('currency'))
  currency: string;

  @Column(text('mode'))
  mode: 'REAL' | 'DEMO';

  @Column(nullable(text('language')))
  language: string | null;

  @Column(nullable(text('country')))
  country: string | null;

  /** The highest stake of a BET, in minor units. */
  @Column(nullable(bigInteger('max_bet_minor')))
  maxBetMinor: number | null;

  @Column(nullable(text('jurisdiction')))
  jurisdiction: string | null;

  /** How often the game reminds the player of the time and money spent, in seconds. */
  @Column(nullable(integer('reality_check_seconds')))
  realityCheckSeconds: number | null;

  @Column(instant('created_at'))
  createdAt: Date;

  @Column(instant('expires_at'))
  expiresAt: Date;

  @Column(nullable(instant('revoked_at')))
  revokedAt: Date | null;

  @Column(nullable(text('revoke_reason')))
  revokeReason: RevokeReason | null;

  /** Whether the session had expired or been revoked when it was read, by the database's clock. */
  @VirtualColumn('boolean', { query: ended })
  ended: boolean;
}
