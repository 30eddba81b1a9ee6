import { type AfterQueryEvent, type EntitySubscriberInterface, EventSubscriber } from 'typeorm';
import type { Connection } from './connection.js';

/**
 * Discards the connection if a repository's query fails outside of a transaction. A query that timed out may still be
 * running on the connection, which TypeORM would otherwise return to the pool. `Database` does the same for its own
 * statements.
 */
@EventSubscriber()
export class FailedQuerySubscriber implements EntitySubscriberInterface {
  async afterQuery({ success, queryRunner }: AfterQueryEvent): Promise<void> {
    if (success || queryRunner.isTransactionActive) return;
    const connection = (await queryRunner.connect()) as Connection;
    connection.discard();
  }
}
