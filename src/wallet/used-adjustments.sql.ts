/**
 * When the adjustment `t` was approved; infinity while it is undecided, because it can be booked at any time. Migration
 * 0046 creates an index on this expression.
 */
const APPROVED_AT = `CASE WHEN t.state = 'APPROVED' THEN t.updated_at ELSE 'infinity'::timestamptz END`;

/**
 * The absolute amounts of adjustments that count towards the daily limit `l`: those that are undecided, and those that
 * were approved in the last 24 hours. Nothing changes `updated_at` of an approved adjustment.
 */
export const USED_ADJUSTMENTS = `
  SELECT abs(t.amount_minor) AS amount
    FROM transactions t
   WHERE t.operator_id = l.operator_id AND t.provider_id = 'platform' AND t.currency = l.currency
     AND ${APPROVED_AT} > statement_timestamp() - interval '24 hours' AND t.state <> 'DECLINED'`;
