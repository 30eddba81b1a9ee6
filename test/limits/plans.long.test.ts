import { afterAll, beforeAll, expect, test } from 'vitest';
import { USED_ADJUSTMENTS } from '../../src/wallet/used-adjustments.sql.js';
import { createMigratedDatabase } from '../world/database.js';
import { type ExecutedNode, type Explained, nodesOf } from '../world/plan.js';
import { SqlConsole } from '../world/sql-console.js';

let sql: SqlConsole;
let stop: () => Promise<void>;
beforeAll(async () => {
  const database = await createMigratedDatabase();
  sql = SqlConsole.open(database.url);
  stop = async () => {
    await sql.close();
    await database.drop();
  };
});
afterAll(() => stop());

/** Ten adjustments of 1.00 that count: TIMED_OUT for a month, or approved today. All others are older or DECLINED. */
const ADJUSTMENTS = `
  INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
                            player_ref, currency, amount_minor, reason, attempt, response_body, created_at, updated_at)
  SELECT 'platform', n, gen_random_uuid(), 'ADJUSTMENT', state, 'lucky', 'REAL', 'ann', 'EUR', 100, 'x', 1,
         CASE WHEN state <> 'TIMED_OUT' THEN '{}' END, now() - interval '30 days',
         CASE WHEN n <= 5 THEN now() ELSE now() - interval '30 days' END
    FROM (SELECT n, CASE WHEN n <= 5 THEN 'APPROVED' WHEN n <= 10 THEN 'TIMED_OUT' WHEN n % 2 = 0 THEN 'DECLINED'
                         ELSE 'APPROVED' END AS state
            FROM generate_series(1, 20000) n) numbered`;

test('the used amount of a daily limit reads only the adjustments that count', async () => {
  await sql.run(ADJUSTMENTS);
  await sql.run('ANALYZE transactions');
  const used = `SELECT sum(amount)::int AS used
                  FROM (SELECT 'lucky' AS operator_id, 'EUR' AS currency) l, LATERAL (${USED_ADJUSTMENTS}) adjustments`;
  expect(await sql.run(used)).toEqual([{ used: 1_000 }]);
  const explain = `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ${used}`;
  const nodes = nodesOf(await sql.run<Explained<ExecutedNode>>(explain));
  expect(nodes.map((node) => node['Index Name'])).toContain('transactions_adjustments');
  expect(nodes[0]!['Shared Hit Blocks'] + nodes[0]!['Shared Read Blocks']).toBeLessThan(50);
});
