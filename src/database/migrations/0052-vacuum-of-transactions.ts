import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Vacuums the tables whose queues leave dead entries in indexes. Each settlement leaves one in `transactions_undecided`,
 * which each pass of the resolver reads from its oldest entry on; each deletion of expired ids leaves some in
 * `attempt_ids_by_time`. By default, a vacuum comes after a fifth of the rows has changed: with 10^8 rows, the resolver
 * would read up to 2 * 10^7 dead entries.
 *
 * Now a vacuum comes after 100,000 rows and a hundredth of the table. A share remains, because a vacuum reads all
 * indexes of the table, so that its cost grows with it. `vacuum_index_cleanup` is necessary: by default, a vacuum leaves
 * the indexes alone if fewer than 2 % of the table's pages have dead rows.
 *
 * ALTER TABLE … SET takes a SHARE UPDATE EXCLUSIVE lock, which blocks neither reads nor writes, and cancels a running
 * autovacuum of the table, except one against wraparound: then it gives up, and the next start tries again.
 */
export class VacuumOfTransactions1764000000052 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(
        `ALTER TABLE ${table} SET (autovacuum_vacuum_threshold = 100000, autovacuum_vacuum_scale_factor = 0.01,
                                   vacuum_index_cleanup = on)`,
      );
    }
  }
}

const TABLES = ['transactions', 'attempt_ids'] as const;
