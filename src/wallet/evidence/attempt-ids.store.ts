import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { named } from '../../database/statement.js';

/** The ids of an attempt by which a search finds its transaction. */
export interface IdsOfAttempt {
  readonly providerId: string;
  readonly transactionId: string;
  readonly platformTransactionId: string;
  readonly requestId: string | undefined;
  readonly operatorTransactionId: string | undefined;
}

/** Commits without waiting for the disk, because losing the rows when the database crashes does no harm. */
const COMMIT_ASYNCHRONOUSLY = named(
  'attempt_ids_commit_asynchronously',
  'SET LOCAL synchronous_commit = off',
);

const INSERT = named(
  'attempt_ids_insert',
  `
    INSERT INTO attempt_ids (provider_id, transaction_id, platform_transaction_id, request_id, operator_transaction_id)
    SELECT * FROM unnest(:providerIds::text[], :transactionIds::text[], :platformTransactionIds::uuid[],
                         :requestIds::text[], :operatorTransactionIds::text[])`,
);

/** Deletes expired rows, except those that another instance is deleting. */
export const DELETE_EXPIRED = named(
  'attempt_ids_delete_expired',
  `
    WITH deleted AS (
      DELETE FROM attempt_ids WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM attempt_ids WHERE created_at < statement_timestamp() - make_interval(days => :days)
         ORDER BY created_at LIMIT :limit FOR UPDATE SKIP LOCKED))
      RETURNING 1)
    SELECT count(*)::int AS rows FROM deleted`,
);

@Injectable()
export class AttemptIdsStore {
  constructor(private readonly database: Database) {}

  async insert(attempts: readonly IdsOfAttempt[]): Promise<void> {
    const values = {
      providerIds: attempts.map(({ providerId }) => providerId),
      transactionIds: attempts.map(({ transactionId }) => transactionId),
      platformTransactionIds: attempts.map(({ platformTransactionId }) => platformTransactionId),
      requestIds: attempts.map(({ requestId }) => requestId),
      operatorTransactionIds: attempts.map(({ operatorTransactionId }) => operatorTransactionId),
    };
    await this.database.transaction(async ({ query }) => {
      await query(COMMIT_ASYNCHRONOUSLY, {});
      await query(INSERT, values);
    });
  }

  /** @returns the number of deleted rows, at most `limit` */
  async deleteExpired(days: number, limit: number): Promise<number> {
    const [deleted] = await this.database.query<{ rows: number }>(DELETE_EXPIRED, { days, limit });
    return deleted?.rows ?? 0;
  }
}
