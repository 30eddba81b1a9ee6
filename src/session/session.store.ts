import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Database, type Query } from '../database/database.js';
import { GroupCommit, groupStatement } from '../database/group-commit.js';
import { callbackLeaseSeconds } from '../provider-callback/callback-lease.js';
import type { Session } from './session.js';
import { ended } from './session.sql.js';

export type RevokeReason = 'KICK' | 'SELF_EXCLUSION' | 'FRAUD_HOLD' | 'OTHER';

export interface NewSession extends Omit<Session, 'expiresAt' | 'revokedAt' | 'ended'> {
  readonly tokenHash: Buffer;
  readonly ttlSeconds: number;
}

/** The columns of a session by the names of its type; other rooms' queries that join sessions use it too. */
const COLUMNS = `
  s.session_id AS "sessionId", s.operator_id AS "operatorId", s.provider_id AS "providerId",
  s.player_ref AS "playerRef", s.game_id AS "gameId", s.currency, s.mode, s.language, s.country,
  s.expires_at AS "expiresAt", s.revoked_at AS "revokedAt", ${ended('s')} AS ended`;

const INSERT = {
  name: 'session_insert',
  text: `
    INSERT INTO sessions AS s (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                               language, country, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, statement_timestamp(),
            statement_timestamp() + make_interval(secs => $11))
    RETURNING ${COLUMNS}`,
};

export const BY_TOKEN = groupStatement(
  'session_by_token',
  { token_hash: 'bytea' },
  (asked) => `SELECT a.item, ${COLUMNS} FROM (${asked}) a JOIN sessions s ON s.token_hash = a.token_hash`,
);

/** Closes what the condition names, and notes in the same step that its provider is to be told: $4 is the lease. */
const revokeWhere = (condition: string) => `
  WITH revoked AS (
    UPDATE sessions s SET revoked_at = clock_timestamp(), revoke_reason = $3 WHERE ${condition} AND s.revoked_at IS NULL
    RETURNING ${COLUMNS}
  ), noted AS (
    INSERT INTO session_revocations (session_id, lease_until)
    SELECT "sessionId", clock_timestamp() + make_interval(secs => $4) FROM revoked
  )
  SELECT * FROM revoked`;

const REVOKE = {
  name: 'session_revoke',
  text: revokeWhere('s.session_id = $1 AND ($2::text IS NULL OR s.operator_id = $2)'),
};

const FIND = {
  name: 'session_find',
  text: `SELECT ${COLUMNS} FROM sessions s WHERE s.session_id = $1 AND ($2::text IS NULL OR s.operator_id = $2)`,
};

const REVOKE_PLAYER = {
  name: 'session_revoke_player',
  text: revokeWhere(`s.operator_id = $1 AND s.player_ref = $2 AND NOT ${ended('s')}`),
};

/** Each statement that touches a session. */
@Injectable()
export class SessionStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    private readonly groupCommit: GroupCommit,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  /** Stores a session that begins now, by the database's clock. */
  async insert(session: NewSession): Promise<Session> {
    const { sessionId, tokenHash, operatorId, providerId, playerRef, gameId, currency, mode } = session;
    const { language, country, ttlSeconds } = session;
    const [inserted] = await this.database.query<Session>(INSERT, [
      ...[sessionId, tokenHash, operatorId, providerId, playerRef, gameId, currency, mode],
      ...[language, country, ttlSeconds],
    ]);
    return inserted!;
  }

  byToken(tokenHash: Buffer): Promise<Session | undefined> {
    return this.groupCommit.run<Session>(BY_TOKEN, [tokenHash]);
  }

  /** @param operatorId undefined: whichever operator's it is */
  async find(sessionId: string, operatorId: string | undefined): Promise<Session | undefined> {
    const [session] = await this.database.query<Session>(FIND, [sessionId, operatorId ?? null]);
    return session;
  }

  /**
   * Closes one session; nothing comes back where it was closed before, or is not this operator's.
   * @param operatorId undefined: whichever operator's it is
   */
  async revoke(
    query: Query,
    sessionId: string,
    operatorId: string | undefined,
    reason: RevokeReason,
  ): Promise<Session | undefined> {
    const values = [sessionId, operatorId ?? null, reason, this.leaseSeconds];
    const [session] = await query<Session>(REVOKE, values);
    return session;
  }

  /** Closes every live session of an operator's player at once. */
  async revokePlayer(
    query: Query,
    operatorId: string,
    playerRef: string,
    reason: RevokeReason,
  ): Promise<Session[]> {
    return query<Session>(REVOKE_PLAYER, [operatorId, playerRef, reason, this.leaseSeconds]);
  }
}
