/**
 * The stakes that count towards the daily limit `l`: those of the grants that were first sent, or sent again, in the
 * last 24 hours, except grants that are known to have failed.
 */
export const USED_STAKES = `
  SELECT g.spins * g.bet_amount_minor::numeric AS amount
    FROM free_spin_grants g
   WHERE g.operator_id = l.operator_id AND g.currency = l.currency
     AND coalesce(g.carried_out_at, g.created_at) > statement_timestamp() - interval '24 hours'
     AND (g.state <> 'FAILED' OR g.outcome_unknown)`;
