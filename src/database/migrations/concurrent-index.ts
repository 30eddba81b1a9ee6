import type { QueryRunner } from 'typeorm';

/**
 * Adds an index while the table is read and written. Must not run in a transaction; can be repeated.
 * @param definition the table, the columns and the condition
 */
export async function indexConcurrently(
  runner: QueryRunner,
  name: string,
  definition: string,
  kind: 'INDEX' | 'UNIQUE INDEX' = 'INDEX',
): Promise<void> {
  // An interrupted build leaves an invalid index.
  await dropIndexConcurrently(runner, name);
  await waitForTransactions(runner, `CREATE ${kind} CONCURRENTLY ${name} ON ${definition}`);
}

/** Drops an index while the table is read and written. Must not run in a transaction; can be repeated. */
export function dropIndexConcurrently(runner: QueryRunner, name: string): Promise<void> {
  return waitForTransactions(runner, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

/**
 * Runs a statement without the time-out of locks, because its wait for earlier transactions holds up no reads or writes.
 * If it fails, the connection is closed, so that the setting needs no reset.
 */
async function waitForTransactions(runner: QueryRunner, statement: string): Promise<void> {
  await runner.query('SET lock_timeout = 0');
  await runner.query(statement);
  await runner.query('RESET lock_timeout');
}

/**
 * Adds an index to a partitioned table. PostgreSQL cannot build the table's index concurrently, so the index of each
 * partition is built concurrently and then attached. The table's index is valid once all are attached. A partition that
 * is created meanwhile gets its index at its creation. Must not run in a transaction; can be repeated.
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
    await indexConcurrently(runner, index, `${name} ${definition}`);
    await runner.query(`ALTER INDEX ${table}_${suffix} ATTACH PARTITION ${index}`);
  }
}

/** Selects the partitions without an index that is attached to the table's index. */
const partitionsWithout = (table: string, suffix: string) => `
SELECT quote_ident(c.relname) AS name, quote_ident(c.relname || '_${suffix}') AS index
  FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid
 WHERE p.inhparent = '${table}'::regclass
   AND NOT EXISTS (SELECT FROM pg_index i JOIN pg_inherits a ON a.inhrelid = i.indexrelid
                    WHERE i.indrelid = c.oid AND a.inhparent = '${table}_${suffix}'::regclass)
`;
