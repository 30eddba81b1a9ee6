import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { type Place, placeColumn } from '../http/time-page.js';

/** What is odd about a WIN of free spins; it is booked all the same. Contract, section 6. */
export const FLAGS = ['UNKNOWN_BATCH', 'OTHER_PLAYER', 'OTHER_CURRENCY', 'CANCELLED'] as const;
export type Flag = (typeof FLAGS)[number];

export interface Winnings {
  readonly count: number;
  /** Minor units of the grant's currency. */
  readonly totalMinor: number;
  /** How many WINs that name the grant's batch are odd: after its cancel, or not its player's. */
  readonly flagged: number;
}

export interface FlaggedWin {
  readonly providerId: string;
  readonly transactionId: string;
  readonly operatorId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly freeSpinsRef: string;
  /** Minor units. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly flag: Flag;
  readonly createdAt: Date;
}

/** What counts: money that the operator has booked. DEMO winnings are in no report. */
const BOOKED = `t.free_spins_ref IS NOT NULL AND t.kind = 'WIN' AND t.state = 'APPROVED' AND t.mode = 'REAL'`;

/**
 * What is odd about the WIN t, by the grants of its batch as they are now; null where nothing is. Reads the
 * wallet's table, so that nothing is kept twice and a crash loses nothing.
 */
const FLAG = `
  (SELECT CASE
     WHEN count(*) = 0 THEN 'UNKNOWN_BATCH'
     WHEN NOT bool_or(g.operator_id = t.operator_id AND g.player_ref = t.player_ref) THEN 'OTHER_PLAYER'
     WHEN NOT bool_or(g.operator_id = t.operator_id AND g.player_ref = t.player_ref AND g.currency = t.currency)
       THEN 'OTHER_CURRENCY'
     WHEN NOT bool_or(g.operator_id = t.operator_id AND g.player_ref = t.player_ref AND g.currency = t.currency
                      AND (g.cancelled_at IS NULL OR g.cancelled_at > t.created_at)) THEN 'CANCELLED'
   END FROM free_spin_grants g WHERE g.provider_id = t.provider_id AND g.external_ref = t.free_spins_ref)`;

const OF_GRANT = {
  name: 'winnings_of_grant',
  text: `
    SELECT count(*) FILTER (WHERE own) AS count, coalesce(sum(amount_minor) FILTER (WHERE own), 0)::float8 AS "totalMinor",
           count(*) FILTER (WHERE flag IS NOT NULL) AS flagged
      FROM (SELECT t.amount_minor, ${FLAG} AS flag,
                   (t.operator_id = g.operator_id AND t.player_ref = g.player_ref AND t.currency = g.currency) AS own
              FROM free_spin_grants g
              JOIN transactions t ON t.provider_id = g.provider_id AND t.free_spins_ref = g.external_ref
             WHERE g.request_ref = $1 AND ${BOOKED}) AS wins`,
};

const FLAG_OF = {
  name: 'winnings_flag_of',
  text: `
    SELECT ${FLAG} AS flag FROM transactions t
     WHERE t.provider_id = $1 AND t.transaction_id = $2 AND ${BOOKED}`,
};

/** Before which all are. It stands for no place: a condition that may be absent is not looked up in an index. */
const END: Place = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** Newest first; `place` is where a list continues, to the microsecond that a Date would lose. */
const FLAGGED = {
  name: 'winnings_flagged',
  text: `
    SELECT * FROM (
      SELECT t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.operator_id AS "operatorId",
             t.player_ref AS "playerRef", t.game_id AS "gameId", t.free_spins_ref AS "freeSpinsRef",
             t.amount_minor AS "amountMinor", t.currency, ${FLAG} AS flag, t.created_at AS "createdAt",
             t.platform_transaction_id AS id,
             ${placeColumn('t.created_at', 't.platform_transaction_id')}
        FROM transactions t
       WHERE ${BOOKED} AND (t.created_at, t.platform_transaction_id) < ($1::timestamptz, $2::uuid)
    ) AS wins
     WHERE flag IS NOT NULL
     ORDER BY "createdAt" DESC, id DESC LIMIT $3`,
};

/** What was won with free spins, read from the wallet's transactions. */
@Injectable()
export class WinningsStore {
  constructor(private readonly database: Database) {}

  async ofGrant(requestRef: string): Promise<Winnings> {
    const [winnings] = await this.database.query<Winnings>(OF_GRANT, [requestRef]);
    return winnings!;
  }

  /** What is odd about one WIN; undefined where nothing is, or where it is not booked. */
  async flagOf(providerId: string, transactionId: string): Promise<Flag | undefined> {
    const [row] = await this.database.query<{ flag: Flag | null }>(FLAG_OF, [providerId, transactionId]);
    return row?.flag ?? undefined;
  }

  /** Newest first. @param before the place that the list continues after */
  flagged(before: Place = END, limit: number): Promise<(FlaggedWin & { readonly place: string })[]> {
    return this.database.query(FLAGGED, [before.at, before.id, limit]);
  }
}
