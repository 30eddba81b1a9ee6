import { groupStatement } from '../database/group-statement.js';
import { endOf, historyWith } from './transaction.sql.js';

const settled = (items: string) => `
  UPDATE transactions t
     SET state = a.state, response_body = a.response_body,
         decline_reason = coalesce(a.decline_reason, t.decline_reason),
         attempts = ${historyWith('a.record')},
         lease_until = NULL, updated_at = clock_timestamp()
    FROM (${items}) a
   WHERE t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id AND t.attempt = a.attempt
     AND t.state = 'PENDING' AND t.rollback_id IS NULL`;

const SETTLEMENT = {
  providerId: 'text',
  transactionId: 'text',
  attempt: 'integer',
  state: 'text',
  responseBody: 'text',
  declineReason: 'text',
  record: 'jsonb',
};

/** Finds the settlement of item `a` if an earlier execution of the statement committed it, but its result was lost. */
const alreadySettled = (items: string) => `
  SELECT a.item FROM (${items}) a
    JOIN transactions t ON t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id
   WHERE t.attempt = a.attempt AND t.state = a.state AND t.attempts -> -1 = a.record`;

/** Settles an attempt if it is still the current one and no ROLLBACK of its transaction is in progress. */
export const SETTLE = groupStatement(
  'transaction_settle',
  SETTLEMENT,
  (items) => `${settled(items)} RETURNING a.item`,
  { alreadyDone: alreadySettled },
);

/**
 * Settles a ROLLBACK. Its target becomes ROLLED_BACK if the ROLLBACK is APPROVED, and loses its mark if the ROLLBACK is
 * DECLINED. Returns the amount of a BET that was APPROVED and is now ROLLED_BACK, and when the BET was settled: only a
 * BET that was APPROVED has a response.
 */
export const SETTLE_ROLLBACK = groupStatement(
  'transaction_settle_rollback',
  SETTLEMENT,
  (items) => `
    WITH settled AS (
      ${settled(items)}
      RETURNING a.item, t.provider_id, t.transaction_id, t.original_transaction_id, t.state
    ), target AS (
      UPDATE transactions t
         SET state = CASE WHEN settled.state = 'APPROVED' THEN 'ROLLED_BACK' ELSE t.state END,
             lease_until = CASE WHEN settled.state = 'APPROVED' THEN NULL ELSE t.lease_until END,
             rollback_id = CASE WHEN settled.state = 'DECLINED' THEN NULL ELSE t.rollback_id END,
             updated_at = clock_timestamp()
        FROM settled
       WHERE t.provider_id = settled.provider_id AND t.transaction_id = settled.original_transaction_id
         AND t.rollback_id = settled.transaction_id AND settled.state <> 'TIMED_OUT'
      RETURNING settled.item, t.state, t.response_body, t.amount_minor, t.attempts -> -1 AS attempt
    )
    SELECT settled.item, target.amount_minor AS "reversedMinor", ${endOf('target.attempt')} AS "reversedAt"
      FROM settled
      LEFT JOIN target ON target.item = settled.item AND target.state = 'ROLLED_BACK'
                      AND target.response_body IS NOT NULL`,
  { alreadyDone: alreadySettled },
);
