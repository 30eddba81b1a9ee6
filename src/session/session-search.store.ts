import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../database/database.js';
import { timeOrderedPage, type TimeOrderedTable } from '../database/time-ordered.js';
import type { Place } from '../http/lists/time-page.js';
import type { Session } from './session.js';
import { ended } from './session.sql.js';
import type { RevokeReason } from './session.store.js';

/** A session as the desk sees it; null is what it does not have. */
export interface DeskSession extends Session {
  readonly createdAt: Date;
  readonly revokeReason: RevokeReason | null;
}

export interface SessionFilter {
  readonly operatorId?: string | undefined;
  readonly providerId?: string | undefined;
  readonly playerRef?: string | undefined;
  readonly gameId?: string | undefined;
  readonly revoked?: boolean | undefined;
  /** from ≤ createdAt < to, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const COLUMNS = `
  t.session_id AS "sessionId", t.operator_id AS "operatorId", t.provider_id AS "providerId",
  t.player_ref AS "playerRef", t.game_id AS "gameId", t.currency, t.mode, t.language, t.country,
  t.created_at AS "createdAt", t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt",
  t.revoke_reason AS "revokeReason", ${ended('t')} AS ended`;

const SESSIONS: TimeOrderedTable = { columns: COLUMNS, from: 'sessions', id: 'session_id', idType: 'uuid' };

const FIND: Statement = {
  name: 'session_desk_find',
  text: `SELECT ${COLUMNS} FROM sessions t WHERE t.session_id = $1`,
};

export function sessionPage(
  filter: SessionFilter,
  { before, limit }: { before: Place | undefined; limit: number },
) {
  const { playerRef: player_ref, gameId: game_id, operatorId: operator_id, providerId: provider_id } = filter;
  const { revoked } = filter;
  const further = revoked === undefined ? [] : [`t.revoked_at IS ${revoked ? 'NOT NULL' : 'NULL'}`];
  const equal = { player_ref, game_id, operator_id, provider_id };
  return timeOrderedPage(SESSIONS, equal, { ...filter, before }, limit, further);
}

/** What the desk reads of sessions; it writes none. */
@Injectable()
export class SessionSearchStore {
  constructor(private readonly database: Database) {}

  page(
    filter: SessionFilter,
    page: { before: Place | undefined; limit: number },
  ): Promise<(DeskSession & { place: string })[]> {
    const { statement, values } = sessionPage(filter, page);
    return this.database.query<DeskSession & { place: string }>(statement, values);
  }

  async find(sessionId: string): Promise<DeskSession | undefined> {
    const [row] = await this.database.query<DeskSession>(FIND, [sessionId]);
    return row;
  }
}
