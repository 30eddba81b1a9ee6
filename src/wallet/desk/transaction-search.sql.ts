import type { Statement } from '../../database/database.js';
import { leading, within } from '../../database/time-ordered.js';
import { type Place, placeColumn } from '../../http/lists/time-page.js';
import type { State } from '../rules/facts.js';

/** Which transactions are asked for; what is absent restricts nothing. Contract, section 7. */
export interface TransactionFilter {
  readonly providerId?: string | undefined;
  readonly operatorId?: string | undefined;
  readonly playerRef?: string | undefined;
  readonly roundId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly state?: State | undefined;
  /** from ≤ createdAt < to, ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A transaction as the desk sees it; the table is `t`. */
export const DESK_COLUMNS = `
  t.provider_id AS "providerId", t.transaction_id AS "transactionId",
  t.platform_transaction_id AS "platformTransactionId", t.kind, t.state, t.operator_id AS "operatorId",
  t.session_id AS "sessionId", t.mode, t.player_ref AS "playerRef", t.game_id AS "gameId", t.round_id AS "roundId",
  t.amount_minor AS "amountMinor", t.currency, t.round_closed AS "roundClosed",
  t.original_transaction_id AS "originalTransactionId", t.free_spins_ref AS "freeSpinsRef",
  t.decline_reason AS "declineReason", t.reason, t.rollback_id AS "rollbackId", t.attempt, t.created_at AS "createdAt",
  t.updated_at AS "updatedAt", t.parked_at AS "parkedAt"`;

const LEASE_ALIVE = `(t.state = 'PENDING' AND t.lease_until > clock_timestamp())`;
const IDLE_SECONDS = 'extract(epoch FROM clock_timestamp() - t.updated_at)::float8';

const NEWEST_FIRST = 'ORDER BY t.created_at DESC, t.platform_transaction_id DESC';

/**
 * One page of transactions, newest first. Every shape of it follows an index in its order, so that a page costs as
 * much at 10^7 rows as at a hundred; migrations 0004 and 0006 have the indexes. A filter by tenants, or by a state that is
 * not the usual, merges the pages of the pairs of tenants that it leaves open: there are few, and one index serves them
 * all. What is asked of a player is looked for along the player's own; a round, and all that is PENDING, is read whole.
 *
 * The statement has no name: which index is right depends on the values, so it is planned anew each time.
 */
export function transactionPage(
  filter: TransactionFilter,
  before: Place | undefined,
  limit: number,
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [limit];
  const value = (each: unknown) => `$${values.push(each)}`;
  const text = `SELECT ${DESK_COLUMNS}, ${placeColumn('t.created_at', 't.platform_transaction_id')}
    FROM ${sourceOf(filter, before, value)} ${NEWEST_FIRST} LIMIT $1`;
  return { statement: { name: '', text }, values };
}

function sourceOf(
  filter: TransactionFilter,
  before: Place | undefined,
  value: (each: unknown) => string,
): string {
  const { operatorId, providerId, playerRef, roundId, sessionId, state } = filter;
  const span = within({ ...filter, before }, { id: 'platform_transaction_id', idType: 'uuid' }, value);
  const equal = (columns: Readonly<Record<string, string | undefined>>) =>
    Object.entries(columns).flatMap(([column, wanted]) =>
      wanted === undefined ? [] : [`t.${column} = ${value(wanted)}`],
    );
  const tenants = { operator_id: operatorId, provider_id: providerId };
  const session = { session_id: sessionId };
  if (state === 'PENDING') {
    return unionOfPending([
      ...equal({ ...tenants, player_ref: playerRef, round_id: roundId, ...session }),
      ...span,
    ]);
  }
  if (roundId !== undefined) {
    const ofRound = equal({ round_id: roundId, player_ref: playerRef, ...tenants, ...session, state });
    return `(${unordered([...ofRound, ...span])}) t`;
  }
  if (playerRef !== undefined) {
    const ofPlayer = [leading('player_ref', value(playerRef)), ...span];
    return `(${newest('player_ref', ofPlayer, equal({ ...tenants, ...session, state }))}) t`;
  }
  const exceptional = state !== undefined && state !== 'APPROVED';
  const others = equal(exceptional ? session : { ...session, state });
  if (!exceptional && operatorId === undefined && providerId === undefined) {
    return `transactions t ${whereAll([...span, ...others])}`;
  }
  const ofPair = exceptional
    ? [leading('state', value(state)), 't.operator_id = operator.id', 't.provider_id = provider.id']
    : [leading('operator_id', 'operator.id'), 't.provider_id = provider.id'];
  return `(${operators(operatorId, value)}) operator CROSS JOIN (${providers(providerId, value)}) provider
    CROSS JOIN LATERAL (${newest(exceptional ? 'state' : 'operator_id', [...ofPair, ...span], others)}) t`;
}

/**
 * The one that is asked for, or all; adjustments' `platform` is among the providers. OFFSET hides which one it is: the
 * planner takes two tenants for independent, so that the many rows of two who only know each other seem few.
 */
const operators = (asked: string | undefined, value: (each: unknown) => string) =>
  asked === undefined
    ? `SELECT id FROM tenants WHERE kind = 'OPERATOR'`
    : `SELECT ${value(asked)}::text AS id OFFSET 0`;
const providers = (asked: string | undefined, value: (each: unknown) => string) =>
  asked === undefined
    ? `SELECT id FROM tenants WHERE kind = 'PROVIDER' UNION ALL SELECT 'platform'`
    : `SELECT ${value(asked)}::text AS id OFFSET 0`;

/**
 * The newest of a stretch of an index that begins with the leader.
 * @param others what the index does not know: in CASE, so that it is tried along the order, however rare it seems
 */
function newest(leader: string, stretch: readonly string[], others: readonly string[]): string {
  const tried = others.length === 0 ? [] : [`CASE WHEN ${others.join(' AND ')} THEN true END`];
  return `SELECT * FROM transactions t ${whereAll([...stretch, ...tried])}
    ORDER BY t.${leader} DESC, t.created_at DESC, t.platform_transaction_id DESC LIMIT $1`;
}

/** Few rows, found by what they have in common: OFFSET keeps the order outside, for which all the others would be read. */
const unordered = (conditions: readonly string[]) =>
  `SELECT * FROM transactions t ${whereAll(conditions)} OFFSET 0`;

/** Those PENDING are few and lie in two partial indexes, which a condition on the state alone does not open. */
function unionOfPending(conditions: readonly string[]): string {
  const part = (parked: string) => unordered([...conditions, `t.state = 'PENDING'`, `t.parked_at ${parked}`]);
  return `((${part('IS NULL')}) UNION ALL (${part('IS NOT NULL')})) t`;
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/** One transaction with all that is kept of it. */
export const FIND_FOR_DESK: Statement = {
  name: 'desk_find',
  text: `
    SELECT ${DESK_COLUMNS}, t.attempts, t.verdict, t.response_body AS "responseBody", t.lease_until AS "leaseUntil",
           ${LEASE_ALIVE} AS "leaseAlive", ${IDLE_SECONDS} AS "idleSeconds"
      FROM transactions t WHERE t.provider_id = $1 AND t.transaction_id = $2`,
};

/** The ROLLBACKs that name a transaction, newest first. They are in its round. $3 and $4 are round and player. */
export const ROLLBACKS_OF: Statement = {
  name: 'desk_rollbacks_of',
  text: `
    SELECT ${DESK_COLUMNS}, t.attempts, t.verdict, t.response_body AS "responseBody", t.lease_until AS "leaseUntil",
           ${LEASE_ALIVE} AS "leaseAlive", ${IDLE_SECONDS} AS "idleSeconds"
      FROM transactions t
     WHERE t.provider_id = $1 AND t.round_id = $3 AND t.player_ref = $4 AND t.kind = 'ROLLBACK'
       AND t.original_transaction_id = $2
     ${NEWEST_FIRST} LIMIT $5`,
};
