import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Bounds the reads of the audit log by actor and action together: without this index, a pair that never occurs is
 * searched for among all entries of the actor.
 *
 * An index of a partitioned table cannot be built concurrently, so each partition gets its own, and the table's index
 * becomes valid with the last of them. Not in one transaction, because an index cannot be built concurrently in one.
 * Each step can be repeated.
 */
export class AuditByActorAndAction1764000000020 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX IF NOT EXISTS ${INDEX} ON ONLY audit_entries ${COLUMNS}`);
    const partitions = (await runner.query(PARTITIONS_WITHOUT_INDEX)) as { name: string; index: string }[];
    for (const { name, index } of partitions) {
      // An interrupted build leaves an invalid index.
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${index} ON ${name} ${COLUMNS}`);
      await runner.query(`ALTER INDEX ${INDEX} ATTACH PARTITION ${index}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX IF EXISTS ${INDEX}`);
  }
}

const INDEX = 'audit_entries_actor_action';
const COLUMNS = '(actor, action, day, position)';

/** A partition that is made after the table's index has an index that is attached to it. */
const PARTITIONS_WITHOUT_INDEX = `
SELECT quote_ident(c.relname) AS name, quote_ident(c.relname || '_actor_action') AS index
  FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid
 WHERE p.inhparent = 'audit_entries'::regclass
   AND NOT EXISTS (SELECT FROM pg_index i JOIN pg_inherits a ON a.inhrelid = i.indexrelid
                    WHERE i.indrelid = c.oid AND a.inhparent = '${INDEX}'::regclass)
`;
