import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { RoundFacts } from '../rules/facts.js';
import type { UndecidedFacts } from '../rules/resolution.js';
import { STORED_COLUMNS } from '../transaction.sql.js';

/** What identifies a transaction. */
export interface TransactionKey {
  readonly providerId: string;
  readonly transactionId: string;
}

/** One transaction beside what resolving it needs. */
export interface Undecided extends UndecidedFacts, TransactionKey {
  readonly sessionId: string | null;
  /** The version of its round: the condition of the claim that ends a BET. */
  readonly roundVersion: RoundFacts['version'];
}

/** A transaction whose turn it is. */
export interface Due extends TransactionKey {
  readonly operatorId: string;
  /** Whether a whole day of attempts came to nothing. */
  readonly givenUp: boolean;
}

/**
 * How long after an attempt the next one is made: by the minute for the first hour, then a twelfth of the age that
 * the transaction had at that attempt, from five minutes up to an hour. With 24 h behind it there is no next one.
 */
const DELAY = `
  CASE WHEN t.updated_at - t.created_at < interval '1 hour' OR t.updated_at - t.created_at >= interval '24 hours'
       THEN interval '1 minute'
       ELSE least((t.updated_at - t.created_at) / 12, interval '1 hour') END`;

/**
 * The oldest that are due, at most $2 of the operator $1, by the database's clock. A BET whose ROLLBACK is under
 * way is not among them: that ROLLBACK is.
 */
const DUE = {
  name: 'undecided_due',
  text: `
    SELECT t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.operator_id AS "operatorId",
           t.updated_at - t.created_at >= interval '24 hours' AS "givenUp"
      FROM transactions t
     WHERE t.operator_id = $1 AND t.state IN ('PENDING', 'TIMED_OUT') AND t.parked_at IS NULL
       AND t.updated_at <= statement_timestamp() - interval '1 minute'
       AND t.updated_at <= statement_timestamp() - ${DELAY}
       AND (t.lease_until IS NULL OR t.lease_until <= statement_timestamp()) AND t.rollback_id IS NULL
     ORDER BY t.updated_at
     LIMIT $2`,
};

/** The operators that have something undecided: one look into the index for each operator there is. */
const OPERATORS = {
  name: 'undecided_operators',
  text: `
    SELECT o.id FROM tenants o
     WHERE o.kind = 'OPERATOR' AND EXISTS (
       SELECT FROM transactions t
        WHERE t.operator_id = o.id AND t.state IN ('PENDING', 'TIMED_OUT') AND t.parked_at IS NULL
          AND t.updated_at <= statement_timestamp() - interval '1 minute')`,
};

const FIND = {
  name: 'undecided_find',
  text: `
    SELECT t.provider_id AS "providerId", t.session_id AS "sessionId", ${STORED_COLUMNS},
           coalesce((SELECT r.version FROM rounds r
                      WHERE r.provider_id = t.provider_id AND r.round_id = t.round_id AND r.player_ref = t.player_ref
                        AND r.game_id = t.game_id AND r.operator_id = t.operator_id AND r.mode = t.mode), 0)
             AS "roundVersion",
           (SELECT count(*) FROM transactions r
             WHERE r.provider_id = t.provider_id AND r.round_id = t.round_id AND r.player_ref = t.player_ref
               AND r.kind = 'ROLLBACK' AND r.original_transaction_id = t.transaction_id
               AND r.transaction_id LIKE 'croupier-%' AND r.state = 'DECLINED') AS "declinedEndings"
      FROM transactions t
     WHERE t.provider_id = $1 AND t.transaction_id = $2`,
};

/** The condition is that of a retry: what somebody is at, or has decided, is not parked. */
const PARK = {
  name: 'undecided_park',
  text: `
    UPDATE transactions SET parked_at = clock_timestamp()
     WHERE provider_id = $1 AND transaction_id = $2 AND parked_at IS NULL AND rollback_id IS NULL
       AND (state = 'TIMED_OUT' OR (state = 'PENDING' AND lease_until <= clock_timestamp()))
    RETURNING 1`,
};

/** Both parts have a partial index of their own, which holds nothing else. */
const COUNT = {
  name: 'undecided_count',
  text: `
    SELECT state, false AS parked, count(*) AS count FROM transactions
     WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NULL GROUP BY state
    UNION ALL
    SELECT state, true, count(*) FROM transactions
     WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NOT NULL GROUP BY state`,
};

/** What waits for a decision. */
@Injectable()
export class UndecidedStore {
  constructor(private readonly database: Database) {}

  async operators(): Promise<string[]> {
    return (await this.database.query<{ id: string }>(OPERATORS, [])).map(({ id }) => id);
  }

  /** Those of an operator whose turn it is, the longest untouched first. @param limit 1 or more */
  due(operatorId: string, limit: number): Promise<Due[]> {
    return this.database.query<Due>(DUE, [operatorId, limit]);
  }

  async find({ providerId, transactionId }: TransactionKey): Promise<Undecided | undefined> {
    const [found] = await this.database.query<Undecided>(FIND, [providerId, transactionId]);
    return found;
  }

  /** Leaves it to a person; false where somebody is at it or has decided it. */
  async park({ providerId, transactionId }: TransactionKey): Promise<boolean> {
    return (await this.database.query(PARK, [providerId, transactionId])).length === 1;
  }

  count(): Promise<{ state: string; parked: boolean; count: number }[]> {
    return this.database.query<{ state: string; parked: boolean; count: number }>(COUNT, []);
  }
}
