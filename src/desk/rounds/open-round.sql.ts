import { settlingWin } from '../../wallet/transaction.sql.js';

/**
 * SQL: whether a round is open, aggregated over its transactions. `isOpen` in round-sums.ts applies the same rule to
 * loaded transactions.
 * @param table the alias of the table `transactions`
 */
export const openRound = (table: string) => `
  bool_or(${table}.kind = 'BET' AND ${table}.state = 'APPROVED')
  AND NOT coalesce(bool_or(${settlingWin(table)} AND ${table}.state = 'APPROVED'), false)
  AND NOT coalesce(bool_or(${table}.round_closed), false)`;
