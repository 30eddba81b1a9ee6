/**
 * Whether a round is open, as an aggregate over its transactions. `isOpen` of round-sums.ts is the same rule for loaded
 * transactions.
 * @param table the alias of the transactions
 */
export const openRound = (table: string) => `
  bool_or(${table}.kind = 'BET' AND ${table}.state = 'APPROVED')
  AND NOT coalesce(bool_or(${table}.kind = 'WIN' AND ${table}.state = 'APPROVED'), false)
  AND NOT coalesce(bool_or(${table}.round_closed), false)`;
