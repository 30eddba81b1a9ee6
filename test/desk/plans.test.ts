import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Place } from '../../src/http/time-page.js';
import { type TransactionFilter, transactionPage } from '../../src/wallet/desk/transaction-search.sql.js';
import { createTestDatabase } from '../world/database.js';
import { SqlConsole } from '../world/sql-console.js';
import { openDataSource } from '../../src/database/data-source.js';

const ROWS = 200_000;
const LIMIT = 51;
/**
 * How many rows of the table a page may touch: what each of the eight pairs of tenants gives, doubled for the looks
 * beside the mark. It does not grow with the table.
 */
const TOUCHED_AT_MOST = 1_000;

let sql: SqlConsole;
let stop: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase();
  const dataSource = await openDataSource(database.url);
  await dataSource.destroy();
  sql = SqlConsole.open(database.url);
  stop = async () => {
    await sql.close();
    await database.drop();
  };
  await seed();
});
afterAll(() => stop());

/** A big operator and small ones, one of which stopped long ago; few transactions that are not APPROVED. */
async function seed(): Promise<void> {
  await sql.run(`
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                         sealed_secret, created_at, updated_at)
    SELECT kind || n, upper(kind), 'x', CASE kind WHEN 'provider' THEN 'x' END, CASE kind WHEN 'provider' THEN 0 END,
           CASE kind WHEN 'operator' THEN 'x' END, CASE kind WHEN 'operator' THEN 'x' END, 'x', now(), now()
      FROM unnest(ARRAY['provider', 'operator']) kind, generate_series(1, 8) n`);
  await sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, lease_until, rollback_id,
       created_at, updated_at)
     SELECT 'provider' || CASE WHEN n % 50 < 45 THEN 1 ELSE 1 + n % 4 END, 't' || n, gen_random_uuid(), 'BET', state,
            'operator' || CASE WHEN n < 500 THEN 5 WHEN n % 100 < 90 THEN 1 ELSE 1 + n % 4 END, 'REAL',
            'player' || n % 5000, 'g', 'EUR', 1, 'round' || n / 3, 1, '{}',
            CASE state WHEN 'PENDING' THEN now() END, CASE state WHEN 'ROLLED_BACK' THEN 'x' END,
            timestamptz '2026-01-01Z' + n * interval '1 second', timestamptz '2026-01-01Z' + n * interval '1 second'
       FROM (SELECT n, CASE WHEN n % 50 = 7 THEN 'DECLINED' WHEN n % 900 = 8 THEN 'ROLLED_BACK'
                            WHEN n % 1000 = 9 THEN 'TIMED_OUT' WHEN n % 20000 = 11 THEN 'PENDING'
                            ELSE 'APPROVED' END AS state
               FROM generate_series(1, ${ROWS}) n) numbered`,
  );
  await sql.run('ANALYZE transactions');
  await sql.run('ANALYZE tenants');
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

async function planOf({ statement, values }: ReturnType<typeof transactionPage>): Promise<Plan[]> {
  const explain = `EXPLAIN (ANALYZE, TIMING off, FORMAT json) ${statement.text}`;
  const [row] = await sql.run<{ 'QUERY PLAN': [{ Plan: Plan }] }>(explain, values);
  const nodes: Plan[] = [];
  const collect = (plan: Plan) => {
    nodes.push(plan);
    plan.Plans?.forEach(collect);
  };
  collect(row!['QUERY PLAN'][0].Plan);
  return nodes;
}

function expectCheap(nodes: Plan[]): void {
  const ofTable = nodes.filter((node) => node['Relation Name'] === 'transactions');
  expect(ofTable.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  const touched = nodes
    .filter((node) => node['Relation Name'] === 'transactions' || node['Node Type'] === 'Bitmap Index Scan')
    .map((node) => {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      return (node['Actual Rows'] + removed) * node['Actual Loops'];
    })
    .reduce((sum, rows) => sum + rows, 0);
  expect(touched).toBeLessThanOrEqual(TOUCHED_AT_MOST);
}

const MIDDLE: Place = {
  at: '2026-01-02T03:46:40.000000Z',
  id: '00000000-0000-4000-8000-000000000000',
};
const FILTERS: [string, TransactionFilter][] = [
  ['nothing', {}],
  ['a big operator', { operatorId: 'operator1' }],
  ['an operator that stopped long ago', { operatorId: 'operator5' }],
  ['an operator without any', { operatorId: 'operator8' }],
  ['a big provider', { providerId: 'provider1' }],
  ['a small provider', { providerId: 'provider3' }],
  ['a provider without any', { providerId: 'provider8' }],
  ['two tenants', { operatorId: 'operator1', providerId: 'provider1' }],
  ['two tenants that never met', { operatorId: 'operator5', providerId: 'provider8' }],
  ['a player', { playerRef: 'player77' }],
  ['a player at an operator', { playerRef: 'player77', operatorId: 'operator2' }],
  ['a player nobody knows', { playerRef: 'nobody' }],
  ['a round', { roundId: 'round777' }],
  ['a round of a provider', { roundId: 'round777', providerId: 'provider1' }],
  ['a player’s session', { playerRef: 'player77', sessionId: '00000000-0000-4000-8000-000000000000' }],
  ['PENDING', { state: 'PENDING' }],
  ['APPROVED', { state: 'APPROVED' }],
  ['APPROVED of an operator', { state: 'APPROVED', operatorId: 'operator2' }],
  ['DECLINED', { state: 'DECLINED' }],
  ['TIMED_OUT', { state: 'TIMED_OUT' }],
  ['TIMED_OUT of an operator', { state: 'TIMED_OUT', operatorId: 'operator2' }],
  ['ROLLED_BACK', { state: 'ROLLED_BACK' }],
  ['an hour', { from: '2026-01-02T00:00:00Z', to: '2026-01-02T01:00:00Z' }],
  ['an hour of an operator', { from: '2026-01-02T00:00Z', to: '2026-01-02T01:00Z', operatorId: 'operator2' }],
];

describe.each([
  ['the first page', undefined],
  ['a page in the middle', MIDDLE],
])('%s of', (_, before) => {
  test.each(FILTERS)('%s touches few rows', async (__, filter) => {
    expectCheap(await planOf(transactionPage(filter, before, LIMIT)));
  });
});
