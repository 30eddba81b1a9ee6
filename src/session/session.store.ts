import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Configuration } from '../config/configuration.js';
import { Database, type Query } from '../database/database.js';
import { GroupCommit } from '../database/group-commit.js';
import { groupStatement } from '../database/group-statement.js';
import { selectList } from '../database/select-list.js';
import { named } from '../database/statement.js';
import { findPage, type Found, type WindowedFilter, type WindowedTable } from '../database/time-window.js';
import { type Place, placeColumn, placeOf } from '../database/place.js';
import { rowByRow } from '../database/planner.js';
import { callbackLeaseSeconds } from '../provider-callback/callback-lease.js';
import { type RevokeReason, Session } from './session.entity.js';
import type { SessionQuery } from './session.request.js';
import { ended } from './session.sql.js';

interface NewSession extends Omit<
  Session,
  'createdAt' | 'expiresAt' | 'revokedAt' | 'revokeReason' | 'ended'
> {
  readonly ttlSeconds: number;
}

const COLUMNS = selectList(Session, 's');

const INSERT = named(
  'session_insert',
  `
    INSERT INTO sessions AS s (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                               language, country, max_bet_minor, jurisdiction, reality_check_seconds, created_at,
                               expires_at)
    VALUES (:sessionId, :tokenHash, :operatorId, :providerId, :playerRef, :gameId, :currency, :mode, :language, :country,
            :maxBetMinor, :jurisdiction, :realityCheckSeconds, statement_timestamp(), statement_timestamp() + make_interval(secs => :ttlSeconds))
    RETURNING ${COLUMNS}`,
);

export const BY_TOKEN = groupStatement(
  'session_by_token',
  { tokenHash: 'bytea' },
  (items) => `SELECT a.item, ${COLUMNS} FROM (${items}) a JOIN sessions s ON s.token_hash = a.token_hash`,
);

/** A revoked session, with its place in the order of sessions. */
type RevokedSession = Session & { readonly place: string };

/** How many sessions of a player are revoked in one statement, which takes some tens of milliseconds. */
const REVOKED_AT_ONCE = 1_000;

/** A place that no session's is after. */
const NEWEST: Place = { at: 'infinity', id: '00000000-0000-0000-0000-000000000000' };

/**
 * Revokes the sessions that meet the condition, and records that their providers must be notified. Polling may claim the
 * notifications after `leaseSeconds`.
 */
const revokeWhere = (condition: string) => `
  WITH revoked AS (
    UPDATE sessions s SET revoked_at = clock_timestamp(), revoke_reason = :reason
     WHERE ${condition} AND ${rowByRow('s.revoked_at IS NULL')}
    RETURNING ${COLUMNS}, ${placeColumn('s.created_at', 's.session_id')}
  ), recorded AS (
    INSERT INTO session_revocations (session_id, provider_id, lease_until)
    SELECT "sessionId", "providerId", clock_timestamp() + make_interval(secs => :leaseSeconds) FROM revoked
  )
  SELECT * FROM revoked`;

const REVOKE = named(
  'session_revoke',
  revokeWhere('s.session_id = :sessionId AND (:operatorId::text IS NULL OR s.operator_id = :operatorId)'),
);

/** Revokes the newest live sessions of a player whose place is before `:at` and `:id`. */
const REVOKE_PLAYER = named(
  'session_revoke_player',
  `${revokeWhere(`s.session_id = ANY (ARRAY(
       SELECT l.session_id FROM sessions l
        WHERE l.operator_id = :operatorId AND l.player_ref = :playerRef AND NOT ${ended('l')}
          AND (l.created_at, l.session_id) < (:at::timestamptz, :id::uuid)
        ORDER BY l.created_at DESC, l.session_id DESC
        LIMIT ${REVOKED_AT_ONCE} FOR NO KEY UPDATE))`)}
   ORDER BY "createdAt" DESC, "sessionId" DESC`,
);

const REVOKED = { true: 't.revoked_at IS NOT NULL', false: 't.revoked_at IS NULL' };

export const SESSIONS: WindowedTable = {
  columns: selectList(Session, 't'),
  from: 'sessions',
  id: 'session_id',
  idType: 'uuid',
  pair: ['operator_id', 'player_ref'],
  partial: REVOKED.true,
};

/**
 * The operator leads the order, if there is one, or the operator and the player. So a page examines only sessions of
 * this operator, and its cursor names no session of another one.
 */
export function sessionFilter({ revoked, ...filter }: SessionQuery): WindowedFilter {
  const { operatorId: operator_id, playerRef: player_ref, gameId: game_id, providerId: provider_id } = filter;
  return { equal: { operator_id, player_ref, game_id, provider_id }, further: revoked && REVOKED[revoked] };
}

/** Reads and writes sessions; every update is conditional on the current state. */
@Injectable()
export class SessionStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    private readonly groupCommit: GroupCommit,
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  /** Inserts a session that begins now, by the database's clock. */
  async insert(session: NewSession): Promise<Session> {
    const [inserted] = await this.database.query<Session>(INSERT, session);
    return inserted!;
  }

  /** @param tokenHash SHA-256 of the token */
  byToken(tokenHash: Buffer): Promise<Session | undefined> {
    return this.groupCommit.run<Session>(BY_TOKEN, { tokenHash });
  }

  /** @param operatorId undefined for a session of any operator */
  find(sessionId: string, operatorId?: string): Promise<Session | null> {
    return this.sessions.findOneBy({ sessionId, ...(operatorId !== undefined && { operatorId }) });
  }

  /** One page of sessions, newest first. It may be short or empty, because it examines a bounded number of sessions. */
  page(
    filter: SessionQuery,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<Session & { place: string }>> {
    return findPage(this.database.query, SESSIONS, sessionFilter(filter), { ...filter, before }, limit);
  }

  /**
   * @param operatorId undefined for a session of any operator
   * @returns undefined if it was revoked before, or the operator has no such session
   */
  async revoke(
    query: Query,
    sessionId: string,
    operatorId: string | undefined,
    reason: RevokeReason,
  ): Promise<Session | undefined> {
    const { leaseSeconds } = this;
    const [session] = await query<Session>(REVOKE, { sessionId, operatorId, reason, leaseSeconds });
    return session;
  }

  /**
   * Revokes the newest live sessions of a player, at most `REVOKED_AT_ONCE`.
   * @param before undefined for the first step; else the `next` of the step before
   * @returns the revoked sessions, and `next` unless no live session is left that is older than they are
   */
  async revokePlayer(
    query: Query,
    player: { readonly operatorId: string; readonly playerRef: string },
    reason: RevokeReason,
    before: Place = NEWEST,
  ): Promise<{ revoked: Session[]; next?: Place }> {
    const values = { ...player, ...before, reason, leaseSeconds: this.leaseSeconds };
    const revoked = await query<RevokedSession>(REVOKE_PLAYER, values);
    if (revoked.length < REVOKED_AT_ONCE) return { revoked };
    return { revoked, next: placeOf(revoked.at(-1)!.place) };
  }
}
