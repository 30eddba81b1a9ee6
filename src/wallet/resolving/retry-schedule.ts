/** SQL: the age of transaction `t` at its last attempt. */
const AGE = '(t.updated_at - t.created_at)';

/** When the resolver attempts a transaction again. */
interface RetryRule {
  /** Applies if the transaction was younger than this PostgreSQL interval at its last attempt. */
  readonly youngerThan: string;
  /** SQL: the wait from the last attempt to the next. */
  readonly wait: string;
}

/** The shortest of all waits, also used for a transaction past the schedule. */
export const SHORTEST_WAIT = `interval '1 minute'`;

/**
 * The retry schedule of transactions that their provider does not retry: every minute for the first hour, then after a
 * twelfth of the transaction's age, but at most an hour. After 24 hours, the transaction is parked.
 * Contract, section 3, "Undecided transactions without a retry".
 */
const RETRY_SCHEDULE: readonly [RetryRule, RetryRule] = [
  { youngerThan: '1 hour', wait: SHORTEST_WAIT },
  { youngerThan: '24 hours', wait: `least(${AGE} / 12, interval '1 hour')` },
];

/** SQL: the wait of transaction `t` from its last attempt to the next. */
export const RETRY_WAIT = `CASE ${RETRY_SCHEDULE.map(
  ({ youngerThan, wait }) => `WHEN ${AGE} < interval '${youngerThan}' THEN ${wait}`,
).join(' ')} ELSE ${SHORTEST_WAIT} END`;

/** SQL: whether transaction `t` is past the schedule. */
export const GIVEN_UP = `${AGE} >= interval '${RETRY_SCHEDULE[1].youngerThan}'`;
