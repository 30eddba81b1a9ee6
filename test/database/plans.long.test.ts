import { afterAll, beforeAll, expect, test } from 'vitest';
import { REMOVE_OLD } from '../../src/health-scores/health-period.store.js';
import { DELETE_EXPIRED } from '../../src/wallet/attempt-ids.store.js';
import { createMigratedDatabase } from '../world/database.js';
import { Planner, rowsTouched } from '../world/plan.js';
import { SqlConsole } from '../world/sql-console.js';

const ROWS = 10_000;
const N = `generate_series(1, ${ROWS}) n`;

let sql: SqlConsole;
let planner: Planner;
let drop: () => Promise<void>;
/** Fills each table with rows that are not due yet. */
beforeAll(async () => {
  const database = await createMigratedDatabase();
  sql = SqlConsole.open(database.url);
  planner = await Planner.open(database.url);
  drop = async () => {
    await planner.close();
    await sql.close();
    await database.drop();
  };
  await sql.run(`
    INSERT INTO attempt_ids (provider_id, transaction_id, platform_transaction_id)
    SELECT 'provider', n, gen_random_uuid() FROM ${N};
    INSERT INTO health_periods (tenant_id, started_at, instance_id, calls, succeeded, timeouts, latency)
    SELECT 'provider', now() - n * interval '0.3 seconds', gen_random_uuid(), 0, 0, 0, '{}' FROM ${N}`);
  await sql.run('VACUUM (ANALYZE)');
});
afterAll(() => drop());

test.each([
  ['expired ids of attempts', DELETE_EXPIRED, { days: 1, limit: 100 }],
  ['old counts of calls', REMOVE_OLD, { limit: 100 }],
])('%s are found without reading rows that are not due', async (_, statement, values) => {
  for (const nodes of await planner.plansOf(statement, values)) {
    const read = nodes.filter((node) => node['Relation Name'] !== undefined);
    expect(rowsTouched(read)).toBe(0);
  }
});
