import type { QueryRunner } from 'typeorm';

/**
 * Gives a partitioned table an index. It cannot be built concurrently on the table itself, so each partition gets its
 * own, which is then attached; the table's index becomes valid with the last of them. A partition that is created
 * meanwhile gets its index at once. Not for use in a transaction; can be repeated.
 * @param suffix end of an index's name, after the name of its table or partition and `_`
 * @param definition the columns and the condition
 */
export async function indexPartitions(
  runner: QueryRunner,
  table: string,
  suffix: string,
  definition: string,
): Promise<void> {
  await runner.query(`CREATE INDEX IF NOT EXISTS ${table}_${suffix} ON ONLY ${table} ${definition}`);
  const partitions = (await runner.query(partitionsWithout(table, suffix))) as {
    name: string;
    index: string;
  }[];
  for (const { name, index } of partitions) {
    // An interrupted build leaves an invalid index.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
    await runner.query(`CREATE INDEX CONCURRENTLY ${index} ON ${name} ${definition}`);
    await runner.query(`ALTER INDEX ${table}_${suffix} ATTACH PARTITION ${index}`);
  }
}

/** The partitions that have no index attached to the index of the table. */
const partitionsWithout = (table: string, suffix: string) => `
SELECT quote_ident(c.relname) AS name, quote_ident(c.relname || '_${suffix}') AS index
  FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid
 WHERE p.inhparent = '${table}'::regclass
   AND NOT EXISTS (SELECT FROM pg_index i JOIN pg_inherits a ON a.inhrelid = i.indexrelid
                    WHERE i.indrelid = c.oid AND a.inhparent = '${table}_${suffix}'::regclass)
`;
