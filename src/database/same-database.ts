import type { Database, Query } from './database.js';
import { named } from './statement.js';

/** First of the two keys of the advisory lock by which one connection recognises the other. The number is arbitrary. */
const LOCKS = 7_300_006;

const LOCK = named(
  'same_database_lock',
  `SELECT pg_backend_pid() AS pid FROM pg_advisory_xact_lock(${LOCKS}, pg_backend_pid())`,
);

const IS_FREE = named('same_database_is_free', `SELECT pg_try_advisory_xact_lock(${LOCKS}, :pid) AS free`);

/** Whether `query` reaches the database's primary: a lock that is held here is not free there. */
export function isSameDatabase(database: Database, query: Query): Promise<boolean> {
  return database.transaction(async (here) => {
    const [lock] = await here.query<{ pid: number }>(LOCK, {});
    const [there] = await query<{ free: boolean }>(IS_FREE, { pid: lock!.pid });
    return !there!.free;
  });
}
