import { beforeAll, expect, test } from 'vitest';
import { END_MOOT_CANCELS, PROVIDERS_WITH_WORK } from '../../src/free-spins/queue/queue.store.js';
import { type GrantFilter, grantPage } from '../../src/free-spins/grants/grant-page.store.js';
import { USED_STAKES } from '../../src/free-spins/grants/grant.sql.js';
import {
  type ExecutedNode,
  type Explained,
  nodesOf,
  nodesOnTables,
  type Planner,
  rowsTouched,
  usePlanDatabase,
} from '../world/plan.js';

const ROWS = 100_000;
/** One has a fifth of the grants. The others have few, so that the planner expects few of each. */
const OPERATORS = 500;
const LIMIT = 51;
const TOUCHED_AT_MOST = 1_000;

/** SQL of a number that depends on `n` as if it were random. */
const random = (seed: number) => `abs(hashint4(n + ${seed} * ${ROWS}) / 2)`;

const database = usePlanDatabase();
beforeAll(async () => {
  const { sql } = database;
  await sql.run(`
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                         sealed_secret, created_at, updated_at)
    SELECT lower(kind) || n, kind, 'x', CASE kind WHEN 'PROVIDER' THEN 'x' END, CASE kind WHEN 'PROVIDER' THEN 0 END,
           CASE kind WHEN 'OPERATOR' THEN 'x' END, CASE kind WHEN 'OPERATOR' THEN 'x' END, 'x', now(), now()
      FROM (SELECT 'OPERATOR' AS kind, generate_series(0, ${OPERATORS - 1}) AS n
            UNION ALL SELECT 'PROVIDER', generate_series(0, 4)) tenants`);
  await sql.run(`INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
    SELECT 'game' || n, 'provider' || n, 'x', 'ACTIVE', now(), now() FROM generate_series(0, 4) n`);
  // Tenants and states are random. A quarter of the grants waits to be sent, and another to be cancelled, except for those
  // of the last provider, which has no work.
  await sql.run(
    `INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
       bet_amount_minor, currency, attempt, external_ref, cancel_due, created_at)
     SELECT n, CASE WHEN pending THEN 'PENDING' ELSE 'GRANTED' END, 'operator' || operator, 'provider' || provider, 'p',
            'game' || provider, 1, 0, 'EUR', 1, CASE WHEN NOT pending THEN 'spins' || n END, to_cancel,
            now() - (${ROWS} - n) * interval '1 minute'
       FROM (SELECT n, CASE WHEN ${random(1)} % 5 = 0 THEN 1 ELSE ${random(2)} % ${OPERATORS} END AS operator, provider,
                    provider < 4 AND ${random(3)} % 4 = 0 AS pending, provider < 4 AND ${random(3)} % 4 = 1 AS to_cancel
               FROM (SELECT n, ${random(4)} % 5 AS provider FROM generate_series(1, ${ROWS}) n) numbered) grants
      ORDER BY n`,
  );
  await sql.run('VACUUM (ANALYZE)');
}, 120_000);

async function expectCheap(...[statement, values]: Parameters<Planner['plansOf']>): Promise<void> {
  for (const nodes of await database.planner.plansOf(statement, values)) {
    const read = nodesOnTables(nodes);
    expect(rowsTouched(read)).toBeLessThanOrEqual(TOUCHED_AT_MOST);
  }
}

test.each<[string, GrantFilter]>([
  ['a game', { operatorId: 'operator1', gameId: 'game2' }],
  ['a provider', { operatorId: 'operator1', providerId: 'provider2' }],
  ['a state', { operatorId: 'operator1', state: 'PENDING' }],
])('a list of the grants of an operator and %s reads few others', async (_, filter) => {
  const { statement, values } = grantPage(filter, undefined, LIMIT);
  await expectCheap(statement, values);
});

test('the used amount of a daily limit reads only the grants that count', async () => {
  const used = `SELECT sum(amount) AS used
                  FROM (SELECT 'operator1' AS operator_id, 'EUR' AS currency) l, LATERAL (${USED_STAKES}) stakes`;
  const explain = `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ${used}`;
  const nodes = nodesOf(await database.sql.run<Explained<ExecutedNode>>(explain));
  const read = nodesOnTables(nodes);
  expect(rowsTouched(read)).toBeLessThanOrEqual(TOUCHED_AT_MOST);
});

test('the providers with work are found without reading all grants that wait', async () => {
  await expectCheap(PROVIDERS_WITH_WORK, {});
  const providers = await database.sql.run(PROVIDERS_WITH_WORK.text);
  expect(providers).toEqual([0, 1, 2, 3].map((n) => ({ providerId: `provider${n}` })));
});

test('cancels that must not be sent are found without reading all that wait', async () => {
  await expectCheap(END_MOOT_CANCELS, {});
});
