import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { named } from '../../database/statement.js';
import type { RoundFacts } from '../rules/facts.js';
import { PLATFORM_ID_PREFIX } from '../rules/platform-id.js';
import type { UndecidedFacts } from '../rules/resolution.js';
import type { TransactionKey } from '../transaction.js';
import { mayBeTakenOver, STORED_COLUMNS } from '../transaction.sql.js';
import { GIVEN_UP, RETRY_WAIT, SHORTEST_WAIT } from './retry-schedule.js';

/** A transaction with the facts that resolving it needs. */
export interface UndecidedTransaction extends UndecidedFacts, TransactionKey {
  readonly sessionId: string | null;
  /** The version of its round, which must be unchanged when the ROLLBACK of a BET is claimed. */
  readonly roundVersion: RoundFacts['version'];
}

/** The undecided transactions of one operator and provider in one state that agree in `parked` and `inRollback`. */
export interface UndecidedCount {
  readonly operatorId: string;
  readonly providerId: string;
  readonly state: 'PENDING' | 'TIMED_OUT';
  readonly parked: boolean;
  /** Whether a ROLLBACK of each is undecided, which is counted itself. */
  readonly inRollback: boolean;
  readonly count: number;
  /** Seconds since the oldest of these transactions was first claimed. */
  readonly oldestSeconds: number;
}

/** A transaction that is due for another attempt. */
export interface DueTransaction extends TransactionKey {
  readonly operatorId: string;
  /** Whether its last attempt was at least 24 hours after its first claim. */
  readonly givenUp: boolean;
  /** The time of its last attempt, as PostgreSQL's text, because a Date would lose the microseconds. */
  readonly lastAttemptAt: string;
}

/**
 * An operator's transactions that are due by the database's clock, ordered by their last attempt, oldest first. The page
 * begins after the given transaction. A BET whose ROLLBACK is under way is left out, because its ROLLBACK is resolved
 * instead. The condition on the shortest wait repeats a part of the schedule, so that PostgreSQL can use the index.
 */
const DUE = named(
  'undecided_due',
  `
    SELECT t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.operator_id AS "operatorId",
           ${GIVEN_UP} AS "givenUp", t.updated_at::text AS "lastAttemptAt"
      FROM transactions t
     WHERE t.operator_id = :operatorId AND t.state IN ('PENDING', 'TIMED_OUT') AND t.parked_at IS NULL
       AND t.updated_at <= statement_timestamp() - ${SHORTEST_WAIT}
       AND t.updated_at <= statement_timestamp() - ${RETRY_WAIT}
       AND (t.lease_until IS NULL OR t.lease_until <= statement_timestamp()) AND t.rollback_id IS NULL
       AND (t.updated_at, t.provider_id, t.transaction_id) > (:lastAttemptAt::timestamptz, :providerId, :transactionId)
     ORDER BY t.updated_at, t.provider_id, t.transaction_id
     LIMIT :limit`,
);

/**
 * The operators that may have due transactions: those with an undecided transaction that is not parked and whose last
 * attempt is at least the shortest wait ago. The query takes one index probe per operator.
 */
const OPERATORS = named(
  'undecided_operators',
  `
    SELECT o.id FROM tenants o
     WHERE o.kind = 'OPERATOR' AND EXISTS (
       SELECT FROM transactions t
        WHERE t.operator_id = o.id AND t.state IN ('PENDING', 'TIMED_OUT') AND t.parked_at IS NULL
          AND t.updated_at <= statement_timestamp() - ${SHORTEST_WAIT})`,
);

const FIND = named(
  'undecided_find',
  `
    SELECT t.provider_id AS "providerId", t.session_id AS "sessionId", ${STORED_COLUMNS},
           coalesce((SELECT r.version FROM rounds r
                      WHERE r.provider_id = t.provider_id AND r.round_id = t.round_id AND r.player_ref = t.player_ref
                        AND r.game_id = t.game_id AND r.operator_id = t.operator_id AND r.mode = t.mode), 0)
             AS "roundVersion",
           (SELECT count(*) FROM transactions r
             WHERE r.provider_id = t.provider_id AND r.round_id = t.round_id AND r.player_ref = t.player_ref
               AND r.kind = 'ROLLBACK' AND r.original_transaction_id = t.transaction_id
               AND r.transaction_id LIKE '${PLATFORM_ID_PREFIX}%' AND r.state = 'DECLINED') AS "declinedEndings"
      FROM transactions t
     WHERE t.provider_id = :providerId AND t.transaction_id = :transactionId`,
);

/**
 * Parks a transaction under the same conditions as a retry: it must be undecided, and neither an attempt nor a ROLLBACK
 * of it may be in progress.
 */
const PARK = named(
  'undecided_park',
  `
    UPDATE transactions t SET parked_at = clock_timestamp()
     WHERE provider_id = :providerId AND transaction_id = :transactionId AND parked_at IS NULL AND rollback_id IS NULL
       AND ${mayBeTakenOver('t')}
    RETURNING 1`,
);

const AGE_OF_OLDEST = 'extract(epoch FROM clock_timestamp() - min(created_at))::float8';

/** Each SELECT reads a partial index that contains only the rows to count. */
export const COUNT = named(
  'undecided_count',
  `
    SELECT operator_id AS "operatorId", provider_id AS "providerId", state, false AS parked,
           rollback_id IS NOT NULL AS "inRollback", count(*) AS count, ${AGE_OF_OLDEST} AS "oldestSeconds"
      FROM transactions
     WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NULL
     GROUP BY operator_id, provider_id, state, "inRollback"
    UNION ALL
    SELECT operator_id, provider_id, state, true, rollback_id IS NOT NULL AS "inRollback", count(*), ${AGE_OF_OLDEST}
      FROM transactions
     WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NOT NULL
     GROUP BY operator_id, provider_id, state, "inRollback"`,
);

const BEFORE_ALL = { lastAttemptAt: '-infinity', providerId: '', transactionId: '' };

/** Reads and parks transactions that are undecided: PENDING or TIMED_OUT. */
@Injectable()
export class UndecidedStore {
  constructor(private readonly database: Database) {}

  async operators(): Promise<string[]> {
    return (await this.database.query<{ id: string }>(OPERATORS, {})).map(({ id }) => id);
  }

  /**
   * One page of the operator's due transactions, ordered by their last attempt, oldest first.
   * @param limit at least 1
   * @param after the last transaction of the previous page; undefined for the first page
   */
  due(operatorId: string, limit: number, after?: DueTransaction): Promise<DueTransaction[]> {
    return this.database.query<DueTransaction>(DUE, { ...(after ?? BEFORE_ALL), operatorId, limit });
  }

  async find(key: TransactionKey): Promise<UndecidedTransaction | undefined> {
    const [found] = await this.database.query<UndecidedTransaction>(FIND, key);
    return found;
  }

  /** @returns false if the transaction is parked or decided, or an attempt or a ROLLBACK of it is in progress */
  async park(key: TransactionKey): Promise<boolean> {
    return (await this.database.query(PARK, key)).length === 1;
  }

  count(): Promise<UndecidedCount[]> {
    return this.database.query<UndecidedCount>(COUNT, {});
  }
}
