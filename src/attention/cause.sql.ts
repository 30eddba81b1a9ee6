import type { Statement } from '../database/database.js';
import { openRound } from '../desk/rounds/open-round.sql.js';

/*
 * Searches for the causes of attention items in the tables of other rooms. The place of a row is its sort key. Each
 * query reads a window: the next $1 rows after the place $2 …, newest first, because the newest causes may have no item
 * yet. It finds these rows with an index and reads no others of the table, so its cost is bounded. Each row has three
 * flags: `due`, whether it is a cause now; `known`, whether it has an item that is up to date; `recent`, whether it
 * became a cause within the last 30 seconds.
 */

const RECENT = `statement_timestamp() - interval '30 seconds'`;

/**
 * A condition on the item of a cause; false if there is none. A scalar sub-select always uses the index; for EXISTS,
 * the planner may read all items.
 */
const ofItem = (kind: string, subject: string, condition: string) => `
  coalesce((SELECT ${condition} FROM attention_items i
             WHERE i.kind = '${kind}' AND i.subject = ${subject} AND i.cause_present), false)`;

/** Whether a cause has an item. */
const known = (kind: string, subject: string) => `${ofItem(kind, subject, 'true')} AS known`;

const TRANSACTION = `
  t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.operator_id AS "operatorId", t.kind,
  t.player_ref AS "playerRef", t.amount_minor AS "amountMinor", t.currency, t.parked_at::text AS "parkedAt"`;
const SUBJECT = `t.provider_id || '/' || t.transaction_id`;

/**
 * Reads the index transactions_parked. A row counts as `known` only if its item was opened or updated after the
 * transaction was parked, or is CLOSED.
 */
const PARKED: Statement = {
  name: 'cause_parked',
  text: `
    SELECT ${TRANSACTION}, true AS due, t.parked_at > ${RECENT} AS recent,
           ${ofItem('transaction', SUBJECT, `i.state = 'CLOSED' OR coalesce(i.parked_at >= t.parked_at, false)`)} AS known,
           ARRAY[t.parked_at::text, t.provider_id, t.transaction_id] AS place
      FROM (SELECT * FROM transactions
             WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NOT NULL
               AND parked_at <= $2::timestamptz
               AND (parked_at, provider_id, transaction_id) < ($2::timestamptz, $3::text, $4::text)
             ORDER BY parked_at DESC, provider_id DESC, transaction_id DESC LIMIT $1) t
     ORDER BY t.parked_at DESC, t.provider_id DESC, t.transaction_id DESC`,
};

/**
 * TIMED_OUT transactions that are not parked, and the time in UTC at which each became a cause: the later of its last
 * change and five minutes after its creation. Contract, section 9. Migration 0018 creates an index on these
 * expressions. Without the CASE, the planner could combine other indexes and read all TIMED_OUT transactions.
 */
const TIMED_OUT = `CASE WHEN state = 'TIMED_OUT' AND parked_at IS NULL THEN true END`;
const UNDECIDED_SINCE = `greatest(created_at AT TIME ZONE 'UTC' + interval '5 minutes', updated_at AT TIME ZONE 'UTC')`;

/** Reads the index transactions_timed_out. */
const UNDECIDED: Statement = {
  name: 'cause_undecided',
  text: `
    SELECT ${TRANSACTION}, true AS due, t.since > (${RECENT}) AT TIME ZONE 'UTC' AS recent,
           ${known('transaction', SUBJECT)},
           ARRAY[(t.since AT TIME ZONE 'UTC')::text, t.provider_id, t.transaction_id] AS place
      FROM (SELECT *, ${UNDECIDED_SINCE} AS since FROM transactions
             WHERE ${TIMED_OUT} AND ${UNDECIDED_SINCE} <= $2::timestamptz AT TIME ZONE 'UTC'
               AND (${UNDECIDED_SINCE}, provider_id, transaction_id)
                   < ($2::timestamptz AT TIME ZONE 'UTC', $3::text, $4::text)
             ORDER BY ${UNDECIDED_SINCE} DESC, provider_id DESC, transaction_id DESC LIMIT $1) t
     ORDER BY t.since DESC, t.provider_id DESC, t.transaction_id DESC`,
};

/** Reads the index free_spin_grants_failed. */
const GRANTS: Statement = {
  name: 'cause_grants',
  text: `
    SELECT g.provider_id AS "providerId", g.operator_id AS "operatorId", g.request_ref AS "requestRef",
           g.player_ref AS "playerRef", g.game_id AS "gameId", g.spins, g.bet_amount_minor AS "betAmountMinor", g.currency,
           g.failure_error AS error, g.outcome_unknown AS "outcomeUnknown", true AS due, g.updated_at > ${RECENT} AS recent,
           ${known('grant', 'g.request_ref')}, ARRAY[g.updated_at::text, g.request_ref] AS place
      FROM (SELECT * FROM free_spin_grants
             WHERE state = 'FAILED' AND updated_at <= $2::timestamptz
               AND (updated_at, request_ref) < ($2::timestamptz, $3::text)
             ORDER BY updated_at DESC, request_ref DESC LIMIT $1) g
     ORDER BY g.updated_at DESC, g.request_ref DESC`,
};

/**
 * Reads the index free_spin_grants_duplicates. An item without `duplicate_of` belongs to an earlier failure of the
 * grant.
 */
const DUPLICATES: Statement = {
  name: 'cause_duplicates',
  text: `
    SELECT g.provider_id AS "providerId", g.operator_id AS "operatorId", g.request_ref AS "requestRef",
           g.player_ref AS "playerRef", g.game_id AS "gameId", g.spins, g.bet_amount_minor AS "betAmountMinor", g.currency,
           g.duplicate_of AS "duplicateOf", true AS due, g.granted_at > ${RECENT} AS recent,
           ${ofItem('grant', 'g.request_ref', 'i.duplicate_of IS NOT NULL')} AS known,
           ARRAY[g.granted_at::text, g.request_ref] AS place
      FROM (SELECT * FROM free_spin_grants
             WHERE duplicate_of IS NOT NULL AND granted_at <= $2::timestamptz
               AND (granted_at, request_ref) < ($2::timestamptz, $3::text)
             ORDER BY granted_at DESC, request_ref DESC LIMIT $1) g
     ORDER BY g.granted_at DESC, g.request_ref DESC`,
};

/**
 * When the callback of a revocation failed or, if its outcome is unknown, when its lease ended. Migration 0018 creates
 * an index on this expression.
 */
const UNDELIVERED_SINCE = 'coalesce(lease_until, failed_at, created_at)';

/** Reads the index session_revocations_failed. */
const REVOCATIONS: Statement = {
  name: 'cause_revocations',
  text: `
    SELECT s.provider_id AS "providerId", s.operator_id AS "operatorId", s.player_ref AS "playerRef",
           r.session_id AS "sessionId", r.error, true AS due, r.since > ${RECENT} AS recent,
           ${known('revocation', 'r.session_id::text')}, ARRAY[r.since::text, r.session_id::text] AS place
      FROM (SELECT *, ${UNDELIVERED_SINCE} AS since FROM session_revocations
             WHERE sent AND delivered IS NOT TRUE AND ${UNDELIVERED_SINCE} <= $2::timestamptz
               AND (${UNDELIVERED_SINCE}, session_id) < ($2::timestamptz, $3::uuid)
             ORDER BY ${UNDELIVERED_SINCE} DESC, session_id DESC LIMIT $1) r
     CROSS JOIN LATERAL (SELECT * FROM sessions WHERE session_id = r.session_id OFFSET 0) s
     ORDER BY r.since DESC, r.session_id DESC`,
};

/**
 * Reads the index approvals_of_state. `= ANY` makes the planner use an index that begins with `state`: see
 * database/time-ordered.ts.
 */
const APPROVALS: Statement = {
  name: 'cause_approvals',
  text: `
    SELECT a.approval_id AS "approvalId", a.operator_id AS "operatorId", a.kind, a.deed AS terms,
           a.expires_at > statement_timestamp() AS due, a.created_at > ${RECENT} AS recent,
           ${known('approval', 'a.approval_id::text')}, ARRAY[a.created_at::text, a.approval_id::text] AS place
      FROM (SELECT * FROM approvals
             WHERE state = ANY (ARRAY['WAITING']) AND (created_at, approval_id) < ($2::timestamptz, $3::uuid)
             ORDER BY state DESC, created_at DESC, approval_id DESC LIMIT $1) a
     ORDER BY a.created_at DESC, a.approval_id DESC`,
};

const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Each search, and the place after which its first window begins. A search that begins at `now`, by the database's
 * clock, skips rows that become causes later.
 */
export const SEARCHES = {
  parked: { statement: PARKED, begin: ['infinity', '', ''] },
  undecided: { statement: UNDECIDED, begin: ['now', '', ''] },
  grants: { statement: GRANTS, begin: ['infinity', ''] },
  duplicates: { statement: DUPLICATES, begin: ['infinity', ''] },
  revocations: { statement: REVOCATIONS, begin: ['now', LAST_UUID] },
  approvals: { statement: APPROVALS, begin: ['infinity', LAST_UUID] },
} as const satisfies Record<string, { statement: Statement; begin: readonly string[] }>;

/**
 * Selects the subjects for which the condition is true. $1: subjects; $2 and $3: their two parts. `condition` should be
 * a scalar sub-select, because the planner always uses the primary key for it.
 */
const stillWhere = (name: string, condition: string): Statement => ({
  name: `cause_still_${name}`,
  text: `
    SELECT k.subject FROM unnest($1::text[], $2::text[], $3::text[]) AS k (subject, provider_id, id) WHERE ${condition}`,
});

/**
 * Selects the subjects whose cause is still present. While an attempt or a callback is in flight, the cause counts as
 * present.
 */
export const STILL = {
  transaction: stillWhere(
    'transaction',
    `(SELECT t.state FROM transactions t WHERE t.provider_id = k.provider_id AND t.transaction_id = k.id)
       IN ('PENDING', 'TIMED_OUT')`,
  ),
  grant: stillWhere(
    'grant',
    // `void` makes a FAILED grant GRANTED and then cancels it. The cause is present until the cancel has succeeded. A
    // duplicate remains one, so only a person closes its item.
    `(SELECT g.state IN ('PENDING', 'FAILED') OR g.duplicate_of IS NOT NULL
             OR (g.state = 'GRANTED' AND (g.cancel_due OR g.last_cancel_error IS NOT NULL))
        FROM free_spin_grants g WHERE g.request_ref = k.subject)`,
  ),
  revocation: stillWhere(
    'revocation',
    `(SELECT r.delivered IS NOT TRUE FROM session_revocations r WHERE r.session_id = k.subject::uuid)`,
  ),
  approval: stillWhere(
    'approval',
    `(SELECT a.state = 'WAITING' AND a.expires_at > statement_timestamp()
        FROM approvals a WHERE a.approval_id = k.subject::uuid)`,
  ),
} as const;

const A_DAY_AGO = `statement_timestamp() - interval '24 hours'`;
/** The rounds of last week are those that began between one and eight days ago. */
const EIGHT_DAYS_AGO = `statement_timestamp() - interval '8 days'`;

/**
 * Selects the pairs of an operator and a provider with transactions older than a day. Each possible pair costs one
 * probe of the index transactions_of_tenants.
 */
export const TRADING_PAIRS: Statement = {
  name: 'cause_trading_pairs',
  text: `
    SELECT o.id AS "operatorId", p.id AS "providerId" FROM tenants o CROSS JOIN tenants p
     WHERE o.kind = 'OPERATOR' AND p.kind = 'PROVIDER'
       AND (SELECT true FROM transactions t
             WHERE t.operator_id = ANY (ARRAY[o.id]) AND t.provider_id = p.id AND t.created_at < ${A_DAY_AGO}
             ORDER BY t.operator_id DESC, t.created_at DESC, t.platform_transaction_id DESC LIMIT 1)
     ORDER BY p.id, o.id`,
};

const FIRST_BET = `min(t.created_at) FILTER (WHERE t.kind = 'BET')`;

/**
 * Reads the newest $3 transactions of operator $1 and provider $2 that are older than a day. Returns three counts of
 * their rounds: those open for more than a day (`open`), those that began last week (`ofLastWeek`), and those that meet
 * both conditions (`openOfLastWeek`). `partial` is true if older transactions may exist, which were not read.
 */
export const OPEN_ROUNDS: Statement = {
  name: 'cause_open_rounds',
  text: `
    WITH examined AS MATERIALIZED (
      SELECT t.round_id, t.player_ref, t.game_id, t.kind, t.mode, t.state FROM transactions t
       WHERE t.operator_id = ANY (ARRAY[$1::text]) AND t.provider_id = $2 AND t.created_at < ${A_DAY_AGO}
       ORDER BY t.operator_id DESC, t.created_at DESC, t.platform_transaction_id DESC LIMIT $3)
    SELECT (count(*) FILTER (WHERE state.open))::int AS open,
           (count(*) FILTER (WHERE state.of_last_week))::int AS "ofLastWeek",
           (count(*) FILTER (WHERE state.of_last_week AND state.open))::int AS "openOfLastWeek",
           (SELECT count(*) FROM examined) = $3 AS partial
      FROM (SELECT DISTINCT n.round_id, n.player_ref, n.game_id FROM examined n
             WHERE n.kind = 'BET' AND n.mode = 'REAL' AND n.state <> 'DECLINED') r
     CROSS JOIN LATERAL (
       SELECT ${openRound('t')} AND ${FIRST_BET} < ${A_DAY_AGO} AS open, ${FIRST_BET} >= ${EIGHT_DAYS_AGO} AS of_last_week
         FROM (SELECT * FROM transactions t
                WHERE t.round_id = r.round_id AND t.player_ref = r.player_ref AND t.provider_id = $2
                  AND t.game_id = r.game_id AND t.operator_id = $1 AND t.mode = 'REAL' OFFSET 0) t) state`,
};
