import type { Statement } from '../../database/database.js';
import { type Place, placeColumn } from '../../http/lists/time-page.js';

/** Condition for winnings of real money that the operator has booked, over the table alias `t`. */
const BOOKED = `t.kind = 'WIN' AND t.state = 'APPROVED' AND t.mode = 'REAL'`;

const inRoundOf = (table: string, other: string) =>
  ['provider_id', 'round_id', 'player_ref', 'game_id', 'operator_id', 'mode']
    .map((column) => `${table}.${column} = ${other}.${column}`)
    .join(' AND ');

/** The mismatch between the WIN t and the current grants of its freeSpinsRef; null if there is none. */
const FLAG_BY_GRANTS = `
  (SELECT CASE
     WHEN count(*) = 0 THEN 'UNKNOWN_BATCH'
     WHEN NOT bool_or(g.operator_id = t.operator_id AND g.player_ref = t.player_ref) THEN 'OTHER_PLAYER'
     WHEN NOT bool_or(g.operator_id = t.operator_id AND g.player_ref = t.player_ref AND g.currency = t.currency)
       THEN 'OTHER_CURRENCY'
     WHEN NOT bool_or(g.operator_id = t.operator_id AND g.player_ref = t.player_ref AND g.currency = t.currency
                      AND (g.cancelled_at IS NULL OR g.cancelled_at > t.created_at)) THEN 'CANCELLED'
   END FROM free_spin_grants g WHERE g.provider_id = t.provider_id AND g.external_ref = t.free_spins_ref)`;

/**
 * Whether the round of the WIN t has a BET that is ROLLED_BACK (or a tombstone), and none that is or may become
 * APPROVED. DECLINED BETs do not count, as in wallet/rules/win.ts. It is an aggregate, because the planner could turn
 * EXISTS into a join that reads the whole table.
 */
const FLAG_BY_ROUND = `
  (SELECT CASE WHEN bool_or(b.state = 'ROLLED_BACK')
                AND NOT bool_or(b.kind = 'BET' AND b.state IN ('PENDING', 'APPROVED', 'TIMED_OUT'))
               THEN 'NO_STANDING_BET' END
     FROM transactions b WHERE ${inRoundOf('b', 't')})`;

/** wallet/attempt.runner.ts has marked the few WINs that were above the limit. */
const FLAG_BY_LIMIT = `
  (SELECT 'ABOVE_LIMIT' FROM wins_above_limit l
    WHERE l.provider_id = t.provider_id AND l.transaction_id = t.transaction_id)`;

/** The flag of the WIN t: the first that applies, in the order of FLAGS; null if none does. */
const FLAG = `
  coalesce(CASE WHEN t.free_spins_ref IS NOT NULL THEN ${FLAG_BY_GRANTS} END, ${FLAG_BY_ROUND}, ${FLAG_BY_LIMIT})`;

/** The winnings of the grant with requestRef $1. A sum that a JSON number cannot represent exactly is null. */
export const OF_GRANT: Statement = {
  name: 'winnings_of_grant',
  text: `
    SELECT count, CASE WHEN total <= 9007199254740991 THEN total::float8 END AS "totalMinor", flagged
      FROM (SELECT count(*) FILTER (WHERE own) AS count, coalesce(sum(amount_minor) FILTER (WHERE own), 0) AS total,
                   count(*) FILTER (WHERE flag IS NOT NULL) AS flagged
              FROM (SELECT t.amount_minor, ${FLAG} AS flag,
                           (t.operator_id = g.operator_id AND t.player_ref = g.player_ref AND t.currency = g.currency)
                             AS own
                      FROM free_spin_grants g
                      JOIN transactions t ON t.provider_id = g.provider_id AND t.free_spins_ref = g.external_ref
                     WHERE g.request_ref = $1 AND ${BOOKED}) AS wins) AS sums`,
};

const FLAGGED_COLUMNS = `
  t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.operator_id AS "operatorId",
  t.player_ref AS "playerRef", t.game_id AS "gameId", t.round_id AS "roundId", t.free_spins_ref AS "freeSpinsRef",
  t.amount_minor AS "amountMinor", t.currency, t.created_at AS "createdAt", t.platform_transaction_id AS id,
  ${placeColumn('t.created_at', 't.platform_transaction_id')}`;

/** The WIN of provider $1 and transaction $2, if it is booked and flagged. */
export const FLAGGED_WIN: Statement = {
  name: 'winnings_flagged_win',
  text: `
    SELECT * FROM (
      SELECT ${FLAGGED_COLUMNS}, ${FLAG} AS flag FROM transactions t
       WHERE t.provider_id = $1 AND t.transaction_id = $2 AND ${BOOKED}
    ) AS win
     WHERE flag IS NOT NULL`,
};

/** Selects the WINs of the query `keys` that are booked and flagged. */
const withFlag = (keys: string, columns: string) => `
  SELECT ${columns} FROM (
    SELECT ${FLAGGED_COLUMNS}, ${FLAG} AS flag
      FROM (${keys}) AS k (provider_id, transaction_id)
     CROSS JOIN LATERAL (SELECT * FROM transactions t
                          WHERE t.provider_id = k.provider_id AND t.transaction_id = k.transaction_id
                            AND ${BOOKED} OFFSET 0) t
  ) AS wins
   WHERE flag IS NOT NULL`;

/** Of the WINs of providers $1 and transactions $2 those that are booked and flagged. */
export const STILL_FLAGGED: Statement = {
  name: 'winnings_still_flagged',
  text: withFlag('SELECT * FROM unnest($1::text[], $2::text[])', '"providerId", "transactionId"'),
};

const CHANGED = (table: string) => `${table}.updated_at > statement_timestamp() - make_interval(secs => $3)`;

/**
 * Flagged WINs among the newest $1 that name a freeSpinsRef, those in the rounds of the newest $2 rows that are ROLLED_BACK
 * of each operator and provider, and the newest $1 that were above a limit; of all these rows, those that were changed in
 * the last $3 seconds. The number of rows read is bounded, however many WINs there are.
 */
export const FLAGGED_LATELY: Statement = {
  name: 'winnings_flagged_lately',
  text: withFlag(
    `SELECT w.provider_id, w.transaction_id
       FROM (SELECT * FROM transactions t WHERE t.free_spins_ref IS NOT NULL
              ORDER BY t.created_at DESC, t.platform_transaction_id DESC LIMIT $1) w
      WHERE ${CHANGED('w')}
      UNION
     SELECT t.provider_id, t.transaction_id
       FROM tenants o CROSS JOIN tenants p
      CROSS JOIN LATERAL (
        SELECT * FROM transactions t
         WHERE t.state = ANY (ARRAY['ROLLED_BACK']) AND t.operator_id = o.id AND t.provider_id = p.id
         ORDER BY t.state DESC, t.created_at DESC, t.platform_transaction_id DESC LIMIT $2) r
      CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE ${inRoundOf('t', 'r')} AND ${BOOKED} OFFSET 0) t
      WHERE o.kind = 'OPERATOR' AND p.kind = 'PROVIDER' AND ${CHANGED('r')}
      UNION
     SELECT w.provider_id, w.transaction_id
       FROM (SELECT * FROM wins_above_limit ORDER BY created_at DESC LIMIT $1) m
      CROSS JOIN LATERAL (SELECT * FROM transactions t
                           WHERE t.provider_id = m.provider_id AND t.transaction_id = m.transaction_id OFFSET 0) w
      WHERE ${CHANGED('w')}`,
    '*',
  ),
};

/** At most $3 WINs without a standing BET in the round of the ROLLBACK of provider $1 and transaction $2. */
export const FLAGGED_IN_ROUND: Statement = {
  name: 'winnings_flagged_in_round',
  text: `
    SELECT * FROM (
      SELECT ${FLAGGED_COLUMNS}, ${FLAG} AS flag
        FROM transactions r
       CROSS JOIN LATERAL (SELECT * FROM transactions t WHERE ${inRoundOf('t', 'r')} AND ${BOOKED} OFFSET 0) t
       WHERE r.provider_id = $1 AND r.transaction_id = $2
    ) AS wins
     WHERE flag = 'NO_STANDING_BET' LIMIT $3`,
};

/** A place after every row, because an optional condition could not use an index. */
const END: Place = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** The conditions of the place and the filter. The planner drops a condition whose parameter restricts nothing. */
const BEFORE_PLACE = `(t.created_at, t.platform_transaction_id) < ($1::timestamptz, $2::uuid)
  AND t.created_at >= $4::timestamptz AND t.created_at < $5::timestamptz
  AND ($6::text IS NULL OR t.operator_id = $6::text)`;
const NEWEST_FIRST = `ORDER BY "createdAt" DESC, id DESC LIMIT $3`;

/**
 * Newest first. WINs with a freeSpinsRef are in a partial index by time. Those without a standing BET are found from
 * the ROLLED_BACK rows, which are few and have a partial index, too; OFFSET 0 makes PostgreSQL look up each of their
 * rounds in the index of rounds. Those above a limit are in a table of their own. The statement has no name, so that it
 * is planned for the current rows.
 */
const FLAGGED: Statement = {
  name: '',
  text: `
    SELECT * FROM (
      (SELECT * FROM (
         SELECT ${FLAGGED_COLUMNS}, ${FLAG_BY_GRANTS} AS flag
           FROM transactions t
          WHERE t.free_spins_ref IS NOT NULL AND ${BOOKED} AND ${BEFORE_PLACE}
       ) AS wins
        WHERE flag IS NOT NULL ${NEWEST_FIRST})
      UNION ALL
      (SELECT * FROM (
         SELECT ${FLAGGED_COLUMNS}, ${FLAG} AS flag
           FROM (SELECT DISTINCT provider_id, round_id, player_ref, game_id, operator_id, mode
                   FROM transactions
                  WHERE state = 'ROLLED_BACK' AND mode = 'REAL' AND ($6::text IS NULL OR operator_id = $6::text)) r
          CROSS JOIN LATERAL (SELECT * FROM transactions t
                               WHERE ${inRoundOf('t', 'r')} AND ${BOOKED} AND ${BEFORE_PLACE} OFFSET 0) t
       ) AS wins
        WHERE flag = 'NO_STANDING_BET' ${NEWEST_FIRST})
      UNION ALL
      (SELECT * FROM (
         SELECT ${FLAGGED_COLUMNS}, ${FLAG} AS flag
           FROM wins_above_limit m
          CROSS JOIN LATERAL (SELECT * FROM transactions t
                               WHERE t.provider_id = m.provider_id AND t.transaction_id = m.transaction_id
                                 AND ${BOOKED} AND ${BEFORE_PLACE} OFFSET 0) t
       ) AS wins
        WHERE flag = 'ABOVE_LIMIT' ${NEWEST_FIRST})
    ) AS wins
    ${NEWEST_FIRST}`,
};

/** A filter of flagged WINs; an absent field restricts nothing. */
export interface FlaggedFilter {
  readonly operatorId?: string;
  /** from ≤ createdAt < to, ISO 8601. */
  readonly from?: string;
  readonly to?: string;
}

/**
 * One page of the flagged WINs.
 * @param before the place before which the page begins
 */
export function flaggedPage(
  { operatorId, from, to }: FlaggedFilter,
  before: Place = END,
  limit: number,
): { statement: Statement; values: unknown[] } {
  const earliest = from === undefined ? '-infinity' : new Date(from);
  const end = to === undefined ? 'infinity' : new Date(to);
  return { statement: FLAGGED, values: [before.at, before.id, limit, earliest, end, operatorId ?? null] };
}
