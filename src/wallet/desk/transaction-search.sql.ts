import type { Statement } from '../../database/database.js';
import { type Place, placeColumn } from '../../http/time-page.js';
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

const NEWEST_FIRST = 'ORDER BY t.created_at DESC, t.platform_transaction_id DESC';

/**
 * One page of transactions, newest first. Every shape of it follows an index in its order, so that a page costs as
 * much at 10^7 rows as at a hundred; migration 0004 has the indexes. A filter by one of the two tenants merges the
 * pages of the pairs that it leaves open: there are few, and one index serves both. So does one by a state that is not
 * the usual, for each operator.
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
  const { operatorId, providerId, playerRef, roundId, sessionId, state, from, to } = filter;
  const conditions: string[] = [];
  const where = (column: string, wanted: string | undefined) => {
    if (wanted !== undefined) conditions.push(`t.${column} = ${value(wanted)}`);
  };
  where('operator_id', operatorId);
  where('provider_id', providerId);
  where('player_ref', playerRef);
  where('round_id', roundId);
  where('session_id', sessionId);
  where('state', state);
  if (from !== undefined) conditions.push(`t.created_at >= ${value(from)}::timestamptz`);
  if (to !== undefined) conditions.push(`t.created_at < ${value(to)}::timestamptz`);
  if (before) {
    const place = `(${value(before.at)}::timestamptz, ${value(before.id)}::uuid)`;
    conditions.push(`(t.created_at, t.platform_transaction_id) < ${place}`);
  }
  const source = sourceOf(filter, conditions);
  const text = `SELECT ${DESK_COLUMNS}, ${placeColumn('t.created_at', 't.platform_transaction_id')}
    FROM ${source} ${NEWEST_FIRST} LIMIT $1`;
  return { statement: { name: '', text }, values };
}

function sourceOf(filter: TransactionFilter, conditions: readonly string[]): string {
  const { operatorId, providerId, playerRef, roundId, state } = filter;
  if (state === 'PENDING') return unionOfPending(conditions);
  const plain = `transactions t ${whereAll(conditions)}`;
  if (playerRef !== undefined || roundId !== undefined) return plain;
  const exceptional = state !== undefined && state !== 'APPROVED';
  if (exceptional) return operatorId === undefined ? mergedPairs('operator', conditions) : plain;
  if ((operatorId === undefined) === (providerId === undefined)) return plain;
  return mergedPairs(operatorId === undefined ? 'operator' : 'provider', conditions);
}

/** The newest of each pair with the tenants of the other kind, adjustments' `platform` among the providers. */
function mergedPairs(open: 'operator' | 'provider', conditions: readonly string[]): string {
  const tenants =
    open === 'operator'
      ? `SELECT id FROM tenants WHERE kind = 'OPERATOR'`
      : `SELECT id FROM tenants WHERE kind = 'PROVIDER' UNION ALL SELECT 'platform'`;
  return `(${tenants}) other CROSS JOIN LATERAL (
    SELECT * FROM transactions t ${whereAll([...conditions, `t.${open}_id = other.id`])} ${NEWEST_FIRST} LIMIT $1) t`;
}

/** Those PENDING are few and lie in two partial indexes, which a condition on the state alone does not open. */
function unionOfPending(conditions: readonly string[]): string {
  const part = (parked: string) =>
    `SELECT * FROM transactions t ${whereAll([...conditions, `t.state = 'PENDING'`, `t.parked_at ${parked}`])}`;
  return `(${part('IS NULL')} UNION ALL ${part('IS NOT NULL')}) t`;
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/** One transaction with all that is kept of it. */
export const FIND_FOR_DESK: Statement = {
  name: 'desk_find',
  text: `
    SELECT ${DESK_COLUMNS}, t.attempts, t.verdict, t.response_body AS "responseBody", t.lease_until AS "leaseUntil",
           (t.state = 'PENDING' AND t.lease_until > clock_timestamp()) AS "leaseAlive"
      FROM transactions t WHERE t.provider_id = $1 AND t.transaction_id = $2`,
};

/** The ROLLBACKs that name a transaction, oldest first: they are in its round. $3 and $4 are round and player. */
export const ROLLBACKS_OF: Statement = {
  name: 'desk_rollbacks_of',
  text: `
    SELECT ${DESK_COLUMNS}, t.attempts, t.verdict, t.response_body AS "responseBody", t.lease_until AS "leaseUntil",
           (t.state = 'PENDING' AND t.lease_until > clock_timestamp()) AS "leaseAlive"
      FROM transactions t
     WHERE t.provider_id = $1 AND t.round_id = $3 AND t.player_ref = $4 AND t.kind = 'ROLLBACK'
       AND t.original_transaction_id = $2
     ${NEWEST_FIRST} LIMIT $5`,
};
