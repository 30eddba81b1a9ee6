import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { COMMIT_ASYNCHRONOUSLY, DELETE_EXPIRED, INSERT_IDS } from './attempt-ids.sql.js';

/** The ids of an attempt by which a search finds its transaction. */
export interface IdsOfAttempt {
  readonly providerId: string;
  readonly transactionId: string;
  readonly platformTransactionId: string;
  readonly requestId: string | undefined;
  readonly operatorTransactionId: string | undefined;
}

@Injectable()
export class AttemptIdsStore {
  constructor(private readonly database: Database) {}

  async insert(attempts: readonly IdsOfAttempt[]): Promise<void> {
    const values = [
      attempts.map(({ providerId }) => providerId),
      attempts.map(({ transactionId }) => transactionId),
      attempts.map(({ platformTransactionId }) => platformTransactionId),
      attempts.map(({ requestId }) => requestId ?? null),
      attempts.map(({ operatorTransactionId }) => operatorTransactionId ?? null),
    ];
    await this.database.transaction(async ({ query }) => {
      await query(COMMIT_ASYNCHRONOUSLY, []);
      await query(INSERT_IDS, values);
    });
  }

  /**
   * Deletes ids that are older than the given number of days.
   * @returns the number of deleted rows, at most `limit`
   */
  async deleteExpired(days: number, limit: number): Promise<number> {
    const [deleted] = await this.database.query<{ rows: number }>(DELETE_EXPIRED, [days, limit]);
    return deleted?.rows ?? 0;
  }
}
