import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { type Place, placeColumn } from '../../database/place.js';
import { named } from '../../database/statement.js';
import { lookUp, UNMERGED } from '../../database/planner.js';
import { READ_SNAPSHOT } from '../../database/read-snapshot.js';
import { type Section, valuesWithin, within } from '../../database/time-ordered.js';
import { type Found, readWindowEnd, type UnnamedStatement } from '../../database/time-window.js';
import type { ListQuery } from '../../api/lists/page.js';
import { SPIN_WINS } from '../../wallet/rules/win-kind.js';
import { BY_TIME } from '../../wallet/transaction.sql.js';
import type { FlaggedWinQuery } from '../free-spins.request.js';
import type { FlaggedWin, WinKey } from './winnings.response.js';

export interface Winnings {
  readonly count: number;
  /** Minor units of the grant's currency; null above 2^53−1. */
  readonly totalMinor: number | null;
  /** The number of flagged WINs that name the grant. */
  readonly flagged: number;
}

/** Maximum number of WINs of one round that are reported after a ROLLBACK or a DECLINED BET. */
const REPORTED_PER_ROUND = 100;

/** Maximum number of WINs that `flaggedLately` examines. */
const LATEST_WINS = 2_000;

/** Condition for WINs of real money that the operator has booked. `t` is the table's alias. */
const BOOKED = `t.kind = 'WIN' AND t.state = 'APPROVED' AND t.mode = 'REAL'`;

const inRoundOf = (table: string, other: string) =>
  ['provider_id', 'round_id', 'player_ref', 'game_id', 'operator_id', 'mode']
    .map((column) => `${table}.${column} = ${other}.${column}`)
    .join(' AND ');

const OF_PLAYER = '(g.operator_id = t.operator_id AND g.player_ref = t.player_ref)';
/** The grants g of the freeSpinsRef of the WIN t in which a WIN may count: all but duplicates. */
const GRANTS_OF_WIN = `
  free_spin_grants g
   WHERE g.provider_id = t.provider_id AND g.external_ref = t.free_spins_ref AND g.duplicate_of IS NULL`;
/**
 * Those of its player, which are few. Any number of other players may have the reference, because it is unique per player
 * only.
 */
const GRANTS_OF_PLAYER = `(SELECT * FROM ${GRANTS_OF_WIN} AND ${OF_PLAYER} ${UNMERGED}) g`;
const OF_CURRENCY = 'g.currency = t.currency';
/** When the grant g got its externalRef. The previous release does not store it. */
const GRANTED_AT = 'coalesce(g.granted_at, g.created_at)';

/**
 * Of some grants, the number of the newest that had the externalRef when the WIN t was created, or else of the first that
 * got it later.
 * @param grants ends with a condition
 */
const nearest = (grants: string) => `
  coalesce(${lookUp('g.grant_no', `FROM ${grants} AND ${GRANTED_AT} <= t.created_at ORDER BY ${GRANTED_AT} DESC, g.grant_no LIMIT 1`)},
           ${lookUp('g.grant_no', `FROM ${grants} AND ${GRANTED_AT} > t.created_at ORDER BY ${GRANTED_AT}, g.grant_no LIMIT 1`)})`;

/**
 * The number of the only grant in which the WIN t counts: the nearest of its player and currency, else of its player, else
 * of anyone.
 */
const GRANT_OF_WIN = `
  coalesce(${nearest(`${GRANTS_OF_PLAYER} WHERE ${OF_CURRENCY}`)}, ${nearest(`${GRANTS_OF_PLAYER} WHERE true`)},
           ${nearest(GRANTS_OF_WIN)})`;

/**
 * The mismatch between the WIN t and the current grants of its freeSpinsRef; null if there is none. If the WIN came after
 * a cancel, a grant that got the reference after the WIN does not clear the flag. The order lets an index find a grant of
 * another player.
 */
const FLAG_BY_GRANTS = `
  (SELECT CASE
     WHEN count(*) = 0 THEN coalesce(${lookUp(`'OTHER_PLAYER'`, `FROM ${GRANTS_OF_WIN} ORDER BY ${GRANTED_AT} LIMIT 1`)}, 'UNKNOWN_BATCH')
     WHEN NOT bool_or(${OF_CURRENCY}) THEN 'OTHER_CURRENCY'
     WHEN bool_or(${OF_CURRENCY} AND g.cancelled_at <= t.created_at)
          AND NOT bool_or(${OF_CURRENCY} AND (g.cancelled_at IS NULL OR g.cancelled_at > t.created_at)
                          AND ${GRANTED_AT} <= t.created_at) THEN 'CANCELLED'
   END FROM ${GRANTS_OF_PLAYER})`;

/** The mismatch, if the WIN t names a freeSpinsRef; else null. */
const FLAG_OF_SPINS = `CASE WHEN t.free_spins_ref IS NOT NULL THEN ${FLAG_BY_GRANTS} END`;

/**
 * Whether the round of a transaction has a BET that is ROLLED_BACK (or a tombstone) and no BET that is or may become
 * APPROVED. DECLINED BETs do not count, as in wallet/rules/win.ts. The query uses aggregates, because the planner could
 * turn EXISTS into a join that reads the whole table. `table` is the transaction's alias.
 */
const lacksStandingBet = (table: string) => `
  (SELECT bool_or(b.state = 'ROLLED_BACK')
          AND NOT bool_or(b.kind = 'BET' AND b.state IN ('PENDING', 'APPROVED', 'TIMED_OUT'))
     FROM transactions b WHERE ${inRoundOf('b', table)})`;

/** Whether the WIN t needs a BET: a JACKPOT, PROMOTION or TOURNAMENT does not. */
const NEEDS_BET = `coalesce(t.win_kind, 'GAME') IN (${SPIN_WINS.map((kind) => `'${kind}'`).join(', ')})`;

/** The flag NO_STANDING_BET, if the WIN t needs a BET and its round lacks one; else null. */
const FLAG_BY_ROUND = `CASE WHEN ${NEEDS_BET} AND ${lacksStandingBet('t')} THEN 'NO_STANDING_BET' END`;

/** The flag ABOVE_LIMIT, if the wallet recorded that the WIN t was above its limit; else null. */
const FLAG_BY_LIMIT = `
  (SELECT 'ABOVE_LIMIT' FROM wins_above_limit l
    WHERE l.provider_id = t.provider_id AND l.transaction_id = t.transaction_id)`;

/**
 * The flag of the WIN t: the first that applies, in the order of FLAGS; null if none does. The triggers of migrations
 * 0022 and 0025 mark each WIN that may have a flag. They repeat the conditions of the flags, so a condition that flags
 * more WINs needs a new migration.
 */
const FLAG = `coalesce(${FLAG_OF_SPINS}, ${FLAG_BY_ROUND}, ${FLAG_BY_LIMIT})`;

/**
 * The winnings of a grant. Each WIN counts in one grant only, and in none that is a duplicate. WINs of other players count
 * in it only if these players have no grant of the reference. Such WINs are marked (migration 0053); the others, of which
 * there may be many, are not read. A sum above 2^53−1 is null.
 */
export const OF_GRANT = named(
  'winnings_of_grant',
  `WITH wins AS (
     SELECT g.grant_no, t.*, ${OF_CURRENCY} AS own
       FROM free_spin_grants g
      CROSS JOIN LATERAL (SELECT * FROM transactions t
                           WHERE t.provider_id = g.provider_id AND t.free_spins_ref = g.external_ref
                             AND t.operator_id = g.operator_id AND t.player_ref = g.player_ref ${UNMERGED}) t
      WHERE g.request_ref = :requestRef
      UNION ALL
     SELECT g.grant_no, t.*, false AS own
       FROM free_spin_grants g
      CROSS JOIN LATERAL (SELECT * FROM flaggable_wins m
                           WHERE m.provider_id = g.provider_id AND m.free_spins_ref = g.external_ref ${UNMERGED}) m
      CROSS JOIN LATERAL (SELECT * FROM transactions t
                           WHERE t.provider_id = m.provider_id AND t.transaction_id = m.transaction_id ${UNMERGED}) t
      WHERE g.request_ref = :requestRef AND NOT ${OF_PLAYER})
   SELECT count, CASE WHEN total <= ${Number.MAX_SAFE_INTEGER} THEN total::float8 END AS "totalMinor", flagged
     FROM (SELECT count(*) FILTER (WHERE own) AS count, coalesce(sum(amount_minor) FILTER (WHERE own), 0) AS total,
                  count(*) FILTER (WHERE flag IS NOT NULL) AS flagged
             FROM (SELECT t.amount_minor, t.own, ${FLAG} AS flag
                     FROM wins t WHERE ${BOOKED} AND t.grant_no = ${GRANT_OF_WIN}) AS counted) AS sums`,
);

const FLAGGED_COLUMNS = `
  t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.operator_id AS "operatorId",
  t.player_ref AS "playerRef", t.game_id AS "gameId", t.round_id AS "roundId", t.free_spins_ref AS "freeSpinsRef",
  t.amount_minor AS "amountMinor", t.currency, t.created_at AS "createdAt", t.platform_transaction_id AS id,
  ${placeColumn('t.created_at', 't.platform_transaction_id')}`;

/**
 * Selects the booked and flagged WINs among those whose keys the query `keys` returns. `order` may refer to these keys
 * as `k`.
 */
const flaggedAmong = (keys: string, columns: string, order = '') => `
  SELECT ${columns}
    FROM (${keys}) k
   CROSS JOIN LATERAL (SELECT * FROM transactions t
                        WHERE t.provider_id = k.provider_id AND t.transaction_id = k.transaction_id
                          AND ${BOOKED} ${UNMERGED}) t
   CROSS JOIN LATERAL (SELECT ${FLAG} AS flag ${UNMERGED}) f
   WHERE f.flag IS NOT NULL ${order}`;

const FLAGGED_WITH_FLAG = `${FLAGGED_COLUMNS}, f.flag`;

/** The WIN, if it is booked and flagged. */
const FLAGGED_WIN = named(
  'winnings_flagged_win',
  flaggedAmong(
    'SELECT :providerId::text AS provider_id, :transactionId::text AS transaction_id',
    FLAGGED_WITH_FLAG,
  ),
);

/** Selects the WINs that are booked and flagged, among those with these provider ids and transaction ids. */
export const STILL_FLAGGED = named(
  'winnings_still_flagged',
  flaggedAmong(
    'SELECT * FROM unnest(:providerIds::text[], :transactionIds::text[]) AS win (provider_id, transaction_id)',
    't.provider_id AS "providerId", t.transaction_id AS "transactionId"',
  ),
);

/** Selects the flagged WINs among those that were marked last, at most `limit`. */
export const FLAGGED_LATELY = named(
  'winnings_flagged_lately',
  flaggedAmong(
    'SELECT provider_id, transaction_id FROM flaggable_wins ORDER BY marked_at DESC LIMIT :limit',
    FLAGGED_WITH_FLAG,
  ),
);

/**
 * Selects at most `limit` WINs with the flag NO_STANDING_BET in the round of a transaction. It judges the round once,
 * because the round may have any number of WINs and BETs.
 */
export const FLAGGED_IN_ROUND = named(
  'winnings_flagged_in_round',
  `SELECT ${FLAGGED_COLUMNS}, 'NO_STANDING_BET' AS flag
     FROM (SELECT * FROM transactions r
            WHERE r.provider_id = :providerId AND r.transaction_id = :transactionId
              AND ${lacksStandingBet('r')} ${UNMERGED}) r
    CROSS JOIN LATERAL (SELECT * FROM transactions t
                         WHERE ${inRoundOf('t', 'r')} AND ${BOOKED} AND ${NEEDS_BET} ${UNMERGED}) t
    WHERE ${FLAG_OF_SPINS} IS NULL LIMIT :limit`,
);

/** A filter of flagged WINs; an absent field restricts nothing. */
export type FlaggedFilter = Omit<FlaggedWinQuery, keyof ListQuery>;

/** Maximum number of marked WINs that a page examines. Nearly all of them are flagged. */
export const EXAMINED_WINS = 1_000;

/**
 * One page of the flagged WINs, newest first. It examines only the marked WINs within `section`; migration 0022 says
 * which WINs are marked. The statement has no name, so that it is planned for its values.
 * @param section the part of the list that the page examines: see `flaggedWindowEnd`
 */
export function flaggedPage(filter: FlaggedFilter, section: Section, limit: number): UnnamedStatement {
  const span = { ...filter, ...section };
  const order = `ORDER BY ${indexOrder('k', filter)} LIMIT :limit`;
  const text = flaggedAmong(markedWins(span, 'LIMIT :examined'), FLAGGED_WITH_FLAG, order);
  return { statement: named('', text), values: { ...valuesOfMarked(span), limit } };
}

/** Selects the place of the last marked WIN that a page examines, or no row if the list ends before that. */
export function flaggedWindowEnd(filter: FlaggedFilter, before: Place | undefined): UnnamedStatement {
  const span = { ...filter, before };
  const last = markedWins(span, 'OFFSET :examined - 1 LIMIT 1');
  const text = `SELECT ${placeColumn('k.created_at', 'k.platform_transaction_id')} FROM (${last}) k`;
  return { statement: named('', text), values: valuesOfMarked(span) };
}

function markedWins(span: FlaggedFilter & Section, rows: string): string {
  const leaders = span.operatorId === undefined ? {} : { 't.operator_id': ':operatorId' };
  const conditions = within(span, BY_TIME, leaders);
  return `SELECT * FROM flaggable_wins t ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
    ORDER BY ${indexOrder('t', span)} ${rows}`;
}

/** The values of the parameters of `markedWins`. */
function valuesOfMarked(span: FlaggedFilter & Section): object {
  return { operatorId: span.operatorId, ...valuesWithin(span, BY_TIME), examined: EXAMINED_WINS };
}

/** The order of the index that serves the filter. */
const indexOrder = (table: string, { operatorId }: FlaggedFilter) =>
  [...(operatorId === undefined ? [] : ['operator_id']), 'created_at', 'platform_transaction_id']
    .map((column) => `${table}.${column} DESC`)
    .join(', ');

/**
 * Reads winnings from the wallet's transactions, so that nothing is stored twice or lost in a crash. The database marks
 * the WINs that may be flagged (migration 0022). Whether a marked WIN is flagged depends on the current grants and
 * transactions.
 */
@Injectable()
export class WinningsStore {
  constructor(private readonly database: Database) {}

  async ofGrant(requestRef: string): Promise<Winnings> {
    const [winnings] = await this.database.query<Winnings>(OF_GRANT, { requestRef });
    return winnings!;
  }

  /** The WIN if it is booked and flagged, else an empty list. */
  flaggedWin(providerId: string, transactionId: string): Promise<FlaggedWin[]> {
    return this.database.query(FLAGGED_WIN, { providerId, transactionId });
  }

  /** The WINs in the round of a transaction that have the flag NO_STANDING_BET. */
  flaggedInRoundOf(providerId: string, transactionId: string): Promise<FlaggedWin[]> {
    return this.database.query(FLAGGED_IN_ROUND, { providerId, transactionId, limit: REPORTED_PER_ROUND });
  }

  /** Returns those of the WINs that are booked and flagged. */
  stillFlagged(wins: readonly WinKey[]): Promise<WinKey[]> {
    const providerIds = wins.map(({ providerId }) => providerId);
    const transactionIds = wins.map(({ transactionId }) => transactionId);
    return this.database.query(STILL_FLAGGED, { providerIds, transactionIds });
  }

  /** The flagged WINs among the WINs that were marked last, in no particular order. */
  flaggedLately(): Promise<FlaggedWin[]> {
    return this.database.query(FLAGGED_LATELY, { limit: LATEST_WINS });
  }

  /**
   * Reads one page of the flagged WINs, newest first. It examines a bounded number of marked WINs, so it may find fewer
   * than `limit` although older ones are flagged.
   * @param before only WINs older than this place are read; undefined for the first page
   */
  flagged(
    filter: FlaggedFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<FlaggedWin & { readonly place: string }>> {
    return this.database.transaction(async ({ query }) => {
      // Without it, WINs that are marked after the window was found would push others out of it, onto no page.
      await query(READ_SNAPSHOT, {});
      const downTo = await readWindowEnd(query, flaggedWindowEnd(filter, before));
      const { statement, values } = flaggedPage(filter, { before, downTo }, limit);
      return { rows: await query(statement, values), downTo };
    });
  }
}
