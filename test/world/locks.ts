import type { SqlConsole } from './sql-console.js';

/** The number of connections to the test's database that wait for a lock. */
export async function waitingForLocks(sql: SqlConsole): Promise<number> {
  const waiting = await sql.run(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return waiting.length;
}
