import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import type { Session } from './session.js';

export type RevokeReason = 'KICK' | 'SELF_EXCLUSION' | 'FRAUD_HOLD' | 'OTHER';

export interface NewSession extends Omit<Session, 'revokedAt'> {
  readonly tokenHash: Buffer;
  readonly createdAt: Date;
}

/** The columns of a session by the names of its type; other rooms' queries that join sessions use it too. */
const COLUMNS = `
  s.session_id AS "sessionId", s.operator_id AS "operatorId", s.provider_id AS "providerId",
  s.player_ref AS "playerRef", s.game_id AS "gameId", s.currency, s.mode, s.language, s.country,
  s.expires_at AS "expiresAt", s.revoked_at AS "revokedAt"`;

const INSERT = {
  name: 'session_insert',
  text: `
    INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                          language, country, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
};

const BY_TOKEN = {
  name: 'session_by_token',
  text: `SELECT ${COLUMNS} FROM sessions s WHERE s.token_hash = $1`,
};

const REVOKE = {
  name: 'session_revoke',
  text: `
    UPDATE sessions s SET revoked_at = $3, revoke_reason = $4
     WHERE s.session_id = $1 AND s.operator_id = $2 AND s.revoked_at IS NULL
    RETURNING ${COLUMNS}`,
};

const OF_OPERATOR = {
  name: 'session_of_operator',
  text: `SELECT ${COLUMNS} FROM sessions s WHERE s.session_id = $1 AND s.operator_id = $2`,
};

const REVOKE_PLAYER = {
  name: 'session_revoke_player',
  text: `
    UPDATE sessions s SET revoked_at = $3, revoke_reason = $4
     WHERE s.operator_id = $1 AND s.player_ref = $2 AND s.revoked_at IS NULL AND s.expires_at > $3
    RETURNING ${COLUMNS}`,
};

/** Each statement that touches a session. */
@Injectable()
export class SessionStore {
  constructor(private readonly database: Database) {}

  async insert(session: NewSession): Promise<void> {
    const { sessionId, tokenHash, operatorId, providerId, playerRef, gameId, currency, mode } = session;
    const { language, country, createdAt, expiresAt } = session;
    await this.database.query(INSERT, [
      ...[sessionId, tokenHash, operatorId, providerId, playerRef, gameId, currency, mode],
      ...[language, country, createdAt, expiresAt],
    ]);
  }

  async byToken(tokenHash: Buffer): Promise<Session | undefined> {
    const [session] = await this.database.query<Session>(BY_TOKEN, [tokenHash]);
    return session;
  }

  async ofOperator(sessionId: string, operatorId: string): Promise<Session | undefined> {
    const [session] = await this.database.query<Session>(OF_OPERATOR, [sessionId, operatorId]);
    return session;
  }

  /** Closes one session; nothing comes back where it was closed before, or is not this operator's. */
  async revoke(
    query: Query,
    sessionId: string,
    operatorId: string,
    at: Date,
    reason: RevokeReason,
  ): Promise<Session | undefined> {
    const [session] = await query<Session>(REVOKE, [sessionId, operatorId, at, reason]);
    return session;
  }

  /** Closes every live session of an operator's player at once. */
  async revokePlayer(
    query: Query,
    operatorId: string,
    playerRef: string,
    at: Date,
    reason: RevokeReason,
  ): Promise<Session[]> {
    return query<Session>(REVOKE_PLAYER, [operatorId, playerRef, at, reason]);
  }
}
