import { expect, test } from 'vitest';
import { USED_ADJUSTMENTS } from '../../src/wallet/used-adjustments.sql.js';
import { useDatabase } from '../world/database.js';
import { type ExecutedNode, type Explained, nodesOf } from '../world/plan.js';

const database = useDatabase();

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
  await database.sql.run(ADJUSTMENTS);
  await database.sql.run('ANALYZE transactions');
  const used = `SELECT sum(amount)::int AS used
                  FROM (SELECT 'lucky' AS operator_id, 'EUR' AS currency) l, LATERAL (${USED_ADJUSTMENTS}) adjustments`;
  expect(await database.sql.run(used)).toEqual([{ used: 1_000 }]);
  const explain = `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ${used}`;
  const nodes = nodesOf(await database.sql.run<Explained<ExecutedNode>>(explain));
  expect(nodes.map((node) => node['Index Name'])).toContain('transactions_adjustments');
  expect(nodes[0]!['Shared Hit Blocks'] + nodes[0]!['Shared Read Blocks']).toBeLessThan(50);
});
