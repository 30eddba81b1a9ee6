/*
 * The retry schedule of transactions that their provider does not retry: every minute for the first hour, then after a
 * twelfth of the transaction's age, but at most an hour. After 24 hours, the transaction is parked. `t` is the table's
 * alias. Contract, section 3, "Undecided transactions without a retry".
 */

/** SQL: the age of the transaction at its last attempt. */
const AGE = '(t.updated_at - t.created_at)';

/** The shortest of all waits, in seconds. */
export const SHORTEST_WAIT_SECONDS = 60;

/** SQL: the shortest of all waits, also used for a transaction past the schedule. */
export const SHORTEST_WAIT = `interval '${SHORTEST_WAIT_SECONDS} seconds'`;

/** SQL: whether the transaction is past the schedule. */
export const GIVEN_UP = `${AGE} >= interval '24 hours'`;

/** SQL: the wait from the last attempt to the next. */
export const RETRY_WAIT = `
  CASE WHEN ${AGE} < interval '1 hour' OR ${GIVEN_UP} THEN ${SHORTEST_WAIT}
       ELSE least(${AGE} / 12, interval '1 hour') END`;
