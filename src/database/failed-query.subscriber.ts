import { type AfterQueryEvent, type EntitySubscriberInterface, EventSubscriber } from 'typeorm';
import type { Connection } from './connection.js';

/**
 * Discards the connection of a repository's query that failed outside a transaction, as `Database` does after a statement
 * of its own: a query that timed out still occupies the connection, and TypeORM would return it to the pool.
 */
@EventSubscriber()
export class FailedQuerySubscriber implements EntitySubscriberInterface {
  async afterQuery({ success, queryRunner }: AfterQueryEvent): Promise<void> {
    if (success || queryRunner.isTransactionActive) return;
    const connection = (await queryRunner.connect()) as Connection;
    connection.discard();
  }
}
