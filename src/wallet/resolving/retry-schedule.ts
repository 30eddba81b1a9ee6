/** When the resolver attempts a transaction again. Ages and waits are PostgreSQL intervals. */
interface RetryRule {
  /** Applies while the transaction, at its last attempt, was younger than this. */
  readonly youngerThan: string;
  /** From the last attempt to the next one, as SQL over `age`. */
  readonly wait: string;
}

/**
 * The retry schedule of transactions that their provider does not retry: every minute for the first hour, then after a
 * twelfth of the transaction's age, which is five minutes at first, up to an hour. Contract, section 3, "What nobody
 * retries".
 */
const RETRY_SCHEDULE: readonly RetryRule[] = [
  { youngerThan: '1 hour', wait: `interval '1 minute'` },
  { youngerThan: '24 hours', wait: `least(age / 12, interval '1 hour')` },
];

/** The age, at its last attempt, at which a transaction is left to a person instead. */
const GIVE_UP_AGE = '24 hours';
/** The wait of a transaction that is past the schedule, and the shortest of all waits. */
export const SHORTEST_WAIT = `interval '1 minute'`;

/** The age of transaction `t` at its last attempt. */
const AGE = '(t.updated_at - t.created_at)';

/** SQL: the wait of transaction `t` from its last attempt to the next. */
export const RETRY_WAIT = `CASE ${RETRY_SCHEDULE.map(
  ({ youngerThan, wait }) => `WHEN ${AGE} < interval '${youngerThan}' THEN ${wait.replaceAll('age', AGE)}`,
).join(' ')} ELSE ${SHORTEST_WAIT} END`;

/** SQL: whether the attempts of transaction `t` have been given up. */
export const GIVEN_UP = `${AGE} >= interval '${GIVE_UP_AGE}'`;
