/** The absolute amounts of adjustments that count towards the daily limit `l`: those of the last 24 hours, unless declined. */
export const USED_ADJUSTMENTS = `
  SELECT abs(t.amount_minor) AS amount
    FROM transactions t
   WHERE t.operator_id = l.operator_id AND t.provider_id = 'platform' AND t.currency = l.currency
     AND t.created_at > statement_timestamp() - interval '24 hours' AND t.state <> 'DECLINED'`;
