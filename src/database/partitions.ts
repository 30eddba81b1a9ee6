import type { Database, Statement } from './database.js';

/** The tables that are partitioned by month. Migrations 0011 and 0014. */
const TABLES = ['callbacks', 'audit_entries', 'operator_answers'] as const;

/** Reads and writes wait while a partition is attached, so the attempt ends if the table stays locked for longer. */
const LOCK_TIMEOUT: Statement = { name: 'partitions_lock_timeout', text: "SET LOCAL lock_timeout = '5s'" };

const ADOPT_DEFAULT: Statement = {
  name: 'partitions_adopt_default',
  text: 'SELECT adopt_default($1) AS name',
};

const MAKE: Statement = {
  name: 'partitions_make',
  text: `
    SELECT make_partition($1, (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + make_interval(months => $2))::date)
           AS name`,
};

/**
 * Creates the missing monthly partitions of each table. Rows that went to the default partition, because their month
 * had none, are moved into a partition of their own first. Each table is one transaction.
 * @param months how many months ahead, 1 or more
 * @returns the names of the partitions that were created
 * @throws Error if the role does not own the tables, or one of them stays locked for longer than 5 s
 */
export async function makePartitions(database: Database, months: number): Promise<string[]> {
  const made: string[] = [];
  for (const table of TABLES) {
    await database.transaction(async ({ query }) => {
      const run = async (statement: Statement, values: readonly unknown[]) => {
        const [row] = await query<{ name: string | null }>(statement, values);
        if (row?.name != null) made.push(row.name);
      };
      await query(LOCK_TIMEOUT, []);
      await run(ADOPT_DEFAULT, [table]);
      for (let month = 0; month <= months; month += 1) await run(MAKE, [table, month]);
    });
  }
  return made;
}
