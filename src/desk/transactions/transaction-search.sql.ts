import { type Place, placeColumn } from '../../database/place.js';
import { lookUp, type Row, rowByRow, UNMERGED } from '../../database/planner.js';
import { named } from '../../database/statement.js';
import { type Section, valuesWithin, within } from '../../database/time-ordered.js';
import { type UnnamedStatement, WINDOW_ROWS } from '../../database/time-window.js';
import type { Kind, State, WinKind } from '../../wallet/rules/facts.js';
import { BY_TIME, LEASE_ALIVE, REPORTED, WIN_KIND } from '../../wallet/transaction.sql.js';

/** A filter for transactions; an absent field restricts nothing. Contract, section 7. */
export interface TransactionFilter {
  readonly providerId?: string | undefined;
  readonly operatorId?: string | undefined;
  readonly playerRef?: string | undefined;
  readonly roundId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly state?: State | undefined;
  readonly kind?: Kind | 'ADJUSTMENT' | undefined;
  readonly winKind?: WinKind | undefined;
  readonly gameId?: string | undefined;
  readonly amountMinor?: number | undefined;
  readonly minAmountMinor?: number | undefined;
  readonly maxAmountMinor?: number | undefined;
  readonly currency?: string | undefined;
  /** Only undecided transactions that the resolver has left to a person. */
  readonly parked?: true | undefined;
  /** from ≤ createdAt < to, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The `roundDetailsUrl` of a row's game, still with its placeholders. */
export const roundDetailsOf = (table: string) =>
  lookUp('g.round_details_url', `FROM games g WHERE g.game_id = ${table}.game_id`);

/** The language of a row's session. */
export const languageOf = (table: string) =>
  lookUp('s.language', `FROM sessions s WHERE s.session_id = ${table}.session_id`);

/**
 * The balance in the stored answer, in minor units, if the outcome that the provider received last is that answer's; else
 * null. The refusal of a BET that has been rolled back is not stored, for example.
 */
const REPORTED_BALANCE = `
  CASE WHEN ${REPORTED} = t.response_body::json ->> 'status'
       THEN (t.response_body::json ->> 'balance')::bigint END`;

/** The columns of a transaction for the desk. `t` is the table's alias. */
const DESK_COLUMNS = `
  t.provider_id AS "providerId", t.transaction_id AS "transactionId",
  t.platform_transaction_id AS "platformTransactionId", t.kind, t.state, t.operator_id AS "operatorId",
  t.session_id AS "sessionId", t.mode, t.player_ref AS "playerRef", t.game_id AS "gameId", t.round_id AS "roundId",
  t.amount_minor AS "amountMinor", t.currency, t.round_closed AS "roundClosed",
  t.original_transaction_id AS "originalTransactionId", t.free_spins_ref AS "freeSpinsRef",
  ${WIN_KIND} AS "winKind", t.promotion_ref AS "promotionRef",
  t.decline_reason AS "declineReason", t.reason, t.rollback_id AS "rollbackId", t.attempt, t.created_at AS "createdAt",
  t.updated_at AS "updatedAt", t.parked_at AS "parkedAt",
  coalesce(t.attempts -> -1 ? 'settledByHand', false) AS "settledByHand", ${REPORTED_BALANCE} AS balance,
  t.attempts -> -1 ->> 'operatorTransactionId' AS "operatorTransactionId",
  ${roundDetailsOf('t')} AS "roundDetailsTemplate", ${languageOf('t')} AS language`;

const IDLE_SECONDS = 'extract(epoch FROM clock_timestamp() - t.updated_at)::float8';

const NEWEST_FIRST = 'ORDER BY t.created_at DESC, t.platform_transaction_id DESC';

/**
 * Maximum number of transactions that a page with a window examines for each pair of an operator and a provider, if it
 * reads and merges the pairs of all operators.
 */
const WINDOW_ROWS_OF_PAIR = 500;

/**
 * One page of transactions, newest first. The statement reads either few rows, or an index in its order, so a page
 * costs the same at 10^7 rows as at a hundred. Migrations 0004 and 0006 create the indexes. The filter determines how
 * the rows are read; the first case that applies counts:
 *
 * - parked, PENDING, or of a round: all matching rows are read and sorted, because they are few
 * - of a player or a session: the rows are read along the index by player
 * - of an operator, of a provider, or in a state other than APPROVED: the rows of each matching pair of an operator and
 *   a provider are read along the index by tenants or by state, and merged; the pairs are few
 * - else: the rows are read along the index by time
 *
 * In all cases but the first, filters on other columns are tested row by row. If `needsWindow` is true, the caller sets
 * `downTo` to the place that `windowEnd` finds.
 *
 * The statement has no name, so that it is planned each time: the best index depends on the values.
 */
export function transactionPage(
  filter: TransactionFilter,
  section: Section,
  limit: number,
): UnnamedStatement {
  const text = `SELECT ${DESK_COLUMNS}, ${placeColumn('t.created_at', 't.platform_transaction_id')}
    FROM ${newestOf(filter, section)} ${NEWEST_FIRST} LIMIT :rows`;
  return { statement: named('', text), values: { ...valuesFor(filter, section), rows: limit } };
}

/** The values of the parameters of `newestOf`. */
export function valuesFor(filter: TransactionFilter, section: Section): object {
  return { ...filter, ...valuesWithin({ ...filter, ...section }, BY_TIME) };
}

/** Whether the page needs a window: a filter has no index, and no other filter limits the rows to a few. */
export function needsWindow(filter: TransactionFilter): boolean {
  const { parked, state, roundId } = filter;
  const readWhole = parked || state === 'PENDING' || roundId !== undefined;
  return !readWhole && UNINDEXED.some((name) => filter[name] !== undefined);
}

/**
 * Finds the last transaction of a page's window, so that a page ends even if few transactions match. It is the last of
 * the first `rows` transactions after `before` that meet the indexed filters. If there are fewer, the statement returns
 * no row, and the page may read to the end of the list.
 *
 * If the page merges the pairs of all operators, the statement finds the last of the first `rows` transactions of each
 * pair, and the newest of these ends the window: reading as many transactions of each pair as of a list would take too
 * long.
 * @param rows at most `windowRows`
 */
export function windowEnd(
  filter: TransactionFilter,
  before: Place | undefined,
  rows = windowRows(filter),
): UnnamedStatement {
  const last = 'OFFSET :rows - 1 LIMIT 1';
  const [ofPair, ofAll] = examinesAllOperators(filter) ? [last, 'LIMIT 1'] : ['LIMIT :rows', last];
  const text = `SELECT ${placeColumn('t.created_at', 't.platform_transaction_id')}
    FROM ${newestOf(filter, { before }, 'examined', ofPair)} ${NEWEST_FIRST} ${ofAll}`;
  const values = { ...valuesFor(filter, { before }), rows };
  return { statement: named('', text), values };
}

/**
 * Maximum number of transactions that a page with this filter examines: of each pair if the page merges the pairs of
 * all operators, else in all.
 */
export function windowRows(filter: TransactionFilter): number {
  return examinesAllOperators(filter) ? WINDOW_ROWS_OF_PAIR : WINDOW_ROWS;
}

/** Whether the page merges the pairs of all operators. */
function examinesAllOperators(filter: TransactionFilter): boolean {
  const { operatorId, playerRef, sessionId } = filter;
  return ![operatorId, playerRef, sessionId].some((wanted) => wanted !== undefined) && !followsTime(filter);
}

const isExceptional = ({ state }: TransactionFilter) => state !== undefined && state !== 'APPROVED';

/** Whether the page reads the rows along the index by time. */
const followsTime = (filter: TransactionFilter) =>
  !isExceptional(filter) && filter.operatorId === undefined && filter.providerId === undefined;

/** The condition of each filter; `within` has those of `from` and `to`. */
const CONDITION_OF = {
  operatorId: 't.operator_id = :operatorId',
  providerId: 't.provider_id = :providerId',
  playerRef: 't.player_ref = :playerRef',
  roundId: 't.round_id = :roundId',
  state: 't.state = :state',
  kind: 't.kind = :kind',
  winKind: `${WIN_KIND} = :winKind`,
  gameId: 't.game_id = :gameId',
  amountMinor: 't.amount_minor = :amountMinor',
  minAmountMinor: 't.amount_minor >= :minAmountMinor',
  maxAmountMinor: 't.amount_minor <= :maxAmountMinor',
  currency: 't.currency = :currency',
  sessionId: 't.session_id = :sessionId',
} as const satisfies Partial<Record<keyof TransactionFilter, string>>;

/** The filters without an index. */
const UNINDEXED = [
  'kind',
  'winKind',
  'gameId',
  'amountMinor',
  'minAmountMinor',
  'maxAmountMinor',
  'currency',
  'sessionId',
] as const;

/**
 * The newest transactions, as a source named `t` for a FROM clause. The source is not sorted, and may have more rows
 * than the caller needs: the caller sorts and limits them.
 * @param which `matching`: only the transactions that meet all filters; `examined`: all transactions that are read to
 *   find them
 * @param rows the LIMIT or OFFSET clause of each scan along an index
 */
export function newestOf(
  filter: TransactionFilter,
  section: Section,
  which: 'matching' | 'examined' = 'matching',
  rows = 'LIMIT :rows',
): string {
  const { operatorId, providerId, playerRef, roundId, sessionId, state, parked, from, to } = filter;
  const span = (leaders?: Row) => within({ from, to, ...section }, BY_TIME, leaders);
  const met = (...names: (keyof typeof CONDITION_OF)[]) =>
    names.filter((name) => filter[name] !== undefined).map((name) => CONDITION_OF[name]);
  const tenants = ['operatorId', 'providerId'] as const;
  /** Conditions on columns that are not in the index. */
  const others: typeof met = (...names) => (which === 'matching' ? met(...names) : []);
  if (parked) {
    const ofAny = met(...tenants, 'playerRef', 'roundId', ...UNINDEXED, 'state');
    return `(${unordered([...ofAny, ...PARKED, ...span()])}) t`;
  }
  if (state === 'PENDING') {
    return unionOfPending([...met(...tenants, 'playerRef', 'roundId', ...UNINDEXED), ...span()]);
  }
  if (roundId !== undefined) {
    const ofRound = met('roundId', 'playerRef', ...tenants, ...UNINDEXED, 'state');
    return `(${unordered([...ofRound, ...span()])}) t`;
  }
  if (playerRef !== undefined || sessionId !== undefined) {
    const player = playerRef === undefined ? playerOfSession(operatorId) : ':playerRef';
    const unindexed = others(...tenants, ...UNINDEXED, 'state');
    return `(${newest(['player_ref'], span({ 't.player_ref': player }), unindexed, rows)}) t`;
  }
  const exceptional = isExceptional(filter);
  const unindexed = exceptional ? others(...UNINDEXED) : others(...UNINDEXED, 'state');
  if (followsTime(filter)) return `(${newest([], span(), unindexed, rows)}) t`;
  const pair = { 't.operator_id': 'operator.id', 't.provider_id': 'provider.id' };
  const [leaders, ofPair] = exceptional
    ? [
        ['state', 'operator_id', 'provider_id'],
        [EXCEPTIONAL, ...span({ 't.state': ':state', ...pair })],
      ]
    : [['operator_id', 'provider_id'], span(pair)];
  return `(${operators(operatorId)}) operator CROSS JOIN (${providers(providerId)}) provider
    CROSS JOIN LATERAL (${newest(leaders, ofPair, unindexed, rows)}) t`;
}

/** The player of a session, or null; null, too, for a session of another operator than the given one. */
const playerOfSession = (operatorId: string | undefined) =>
  `(SELECT s.player_ref FROM sessions s WHERE s.session_id = :sessionId::uuid
     ${operatorId === undefined ? '' : 'AND s.operator_id = :operatorId'})`;

/** Selects the ids of all providers of transactions, with `platform`, the provider of adjustments. */
export const ALL_PROVIDERS = `SELECT id FROM tenants WHERE kind = 'PROVIDER' UNION ALL SELECT 'platform'`;

/** The ids of the operators or providers whose transactions are read: the given id, or all. */
const operators = (operatorId: string | undefined) =>
  operatorId === undefined
    ? `SELECT id FROM tenants WHERE kind = 'OPERATOR'`
    : `SELECT :operatorId::text AS id`;
const providers = (providerId: string | undefined) =>
  providerId === undefined ? ALL_PROVIDERS : `SELECT :providerId::text AS id`;

/**
 * Reads the newest rows along an index.
 * @param leaders the columns of the index before time and id
 * @param others conditions on columns that are not in the index
 */
function newest(
  leaders: readonly string[],
  section: readonly string[],
  others: readonly string[],
  rows: string,
): string {
  const order = [...leaders, 'created_at', 'platform_transaction_id'].map((column) => `t.${column} DESC`);
  const tested = others.length === 0 ? [] : [rowByRow(others.join(' AND '))];
  return `SELECT * FROM transactions t ${whereAll([...section, ...tested])}
    ORDER BY ${order.join(', ')} ${rows}`;
}

/**
 * Reads few rows by an index that is not ordered by time. If the planner merged it with the outer ORDER BY, it could
 * read the whole table in that order.
 */
const unordered = (conditions: readonly string[]) =>
  `SELECT * FROM transactions t ${whereAll(conditions)} ${UNMERGED}`;

/** The condition of the partial index of exceptional transactions. */
const EXCEPTIONAL = `t.state IN ('DECLINED', 'TIMED_OUT', 'ROLLED_BACK')`;

/** The conditions of the partial index of parked transactions, which are few. */
const PARKED = [`t.state IN ('PENDING', 'TIMED_OUT')`, 't.parked_at IS NOT NULL'];

/**
 * The PENDING transactions, which are few. One partial index has the parked ones, another has the rest. The planner
 * uses a partial index only if the query states the index's condition on `parked_at`.
 */
function unionOfPending(conditions: readonly string[]): string {
  const part = (parked: string) => unordered([...conditions, `t.state = 'PENDING'`, `t.parked_at ${parked}`]);
  return `((${part('IS NULL')}) UNION ALL (${part('IS NOT NULL')})) t`;
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/** All columns of a transaction. `t` is the table's alias. */
export const WHOLE_COLUMNS = `
  ${DESK_COLUMNS}, t.win_kind AS "requestedWinKind", t.attempts, t.verdict, t.response_body AS "responseBody", t.lease_until AS "leaseUntil",
  ${REPORTED} AS "reported", t.reported_status AS "reportedStatus", t.reported_at AS "reportedAt",
  ${LEASE_ALIVE} AS "leaseAlive", ${IDLE_SECONDS} AS "idleSeconds"`;

/** One transaction with all its columns. */
export const FIND_FOR_DESK = named(
  'desk_find',
  `SELECT ${WHOLE_COLUMNS}
     FROM transactions t WHERE t.provider_id = :providerId AND t.transaction_id = :transactionId`,
);

/** The ROLLBACKs that name a transaction, newest first. They are in its round. */
export const ROLLBACKS_OF = named(
  'desk_rollbacks_of',
  `SELECT ${WHOLE_COLUMNS}
     FROM transactions t
    WHERE t.provider_id = :providerId AND t.round_id = :roundId AND t.player_ref = :playerRef AND t.kind = 'ROLLBACK'
      AND t.original_transaction_id = :transactionId
    ${NEWEST_FIRST} LIMIT :limit`,
);
