import type { Database } from './database.js';
import { named, type Statement } from './statement.js';

/** The tables that are partitioned by month. Migrations 0011 and 0014 create their first partitions. */
const TABLES = ['callbacks', 'audit_entries', 'operator_answers'] as const;
type Table = (typeof TABLES)[number];

/** Limits the wait for a table's lock, because reads and writes of the table queue behind that wait. */
const LOCK_TIMEOUT = named('partitions_lock_timeout', "SET LOCAL lock_timeout = '5s'");

const ADOPT_DEFAULT = named('partitions_adopt_default', 'SELECT adopt_default(:table) AS name');

const MAKE = named(
  'partitions_make',
  `
    SELECT make_partition(:table, (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + make_interval(months => :month))::date)
           AS name`,
);

const AHEAD = named(
  'partitions_ahead',
  `
    SELECT extract(epoch FROM min(coalesce(partitions_end(name), 'epoch'))::timestamp AT TIME ZONE 'UTC' - clock_timestamp())::float8 AS seconds
      FROM unnest(:tables::text[]) AS name`,
);

export interface Partition {
  /** Without a schema, such as `audit_entries_2026_01`. */
  readonly name: string;
  /** The first day after the partition, `YYYY-MM-DD`. */
  readonly end: string;
}

const UNTIL = named(
  'partitions_until',
  `
    SELECT c.relname AS name, left(bound, 10) AS end
      FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid,
           substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''([^'']+)''\\)') AS bound
     WHERE inhparent = :table::regclass AND left(bound, 10)::date <= :day::date
     ORDER BY 2`,
);

/**
 * Creates the missing monthly partitions of each table, from the current month on. If the default partition has rows,
 * because their month had no partition, it first becomes the partition of their months, and an empty one replaces it.
 * Each table is changed in one transaction.
 * @param months number of months after the current one, 1 or more
 * @returns the names of the new partitions
 * @throws Error if the role does not own the tables, or one of them stays locked for longer than 5 s
 */
export async function makePartitions(database: Database, months: number): Promise<string[]> {
  const made: string[] = [];
  for (const table of TABLES) {
    await database.transaction(async ({ query }) => {
      const run = async (statement: Statement, values: object) => {
        const [row] = await query<{ name: string | null }>(statement, values);
        if (row?.name != null) made.push(row.name);
      };
      await query(LOCK_TIMEOUT, {});
      await run(ADOPT_DEFAULT, { table });
      for (let month = 0; month <= months; month += 1) await run(MAKE, { table, month });
    });
  }
  return made;
}

/** The time until new rows of a table have no partition of their own, in seconds; negative if they have none now. */
export async function secondsOfPartitionsAhead(database: Database): Promise<number> {
  const [row] = await database.query<{ seconds: number }>(AHEAD, { tables: TABLES });
  return row!.seconds;
}

/**
 * Finds the partitions of a table that cover only days before the given one, oldest first.
 * @param day `YYYY-MM-DD`
 */
export function partitionsUntil(database: Database, table: Table, day: string): Promise<Partition[]> {
  return database.query<Partition>(UNTIL, { table, day });
}

/**
 * Detaches a partition, which becomes a table of its own. Reads and writes of the partitioned table wait meanwhile.
 * @throws Error if the role does not own the table, or it stays locked for longer than 5 s
 */
export async function detachPartition(database: Database, table: Table, { name }: Partition): Promise<void> {
  // PostgreSQL refuses DETACH … CONCURRENTLY if the table has a default partition.
  const text = `ALTER TABLE ${table} DETACH PARTITION "${name.replaceAll('"', '""')}"`;
  await database.transaction(async ({ query }) => {
    await query(LOCK_TIMEOUT, {});
    await query(named(`partitions_detach_${name}`, text), {});
  });
}
