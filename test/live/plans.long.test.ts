import { beforeAll, expect, test } from 'vitest';
import { STATES } from '../../src/approvals/approval.store.js';
import { ITEMS_OF_EVENTS, LATEST_EVENT } from '../../src/attention/attention.sql.js';
import { RUNNING } from '../../src/free-spins/batches/batch-progress.store.js';
import { READ as READ_HEALTH } from '../../src/health-scores/health-period.store.js';
import { READ_AMOUNTS, READ_MINUTES } from '../../src/wallet/activity/activity.store.js';
import { COUNT as COUNT_UNDECIDED } from '../../src/wallet/resolving/undecided.store.js';
import { nodesOnTables, rowsTouched, usePlanDatabase } from '../world/plan.js';

const ROWS = 100_000;
/** One transaction in this many is undecided. */
const UNDECIDED_EVERY = 1_000;
const BATCHES = 20_000;

const database = usePlanDatabase();
beforeAll(async () => {
  await database.sql.run(`
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                         sealed_secret, created_at, updated_at)
    SELECT lower(kind) || n, kind, 'x', CASE kind WHEN 'PROVIDER' THEN 'x' END, CASE kind WHEN 'PROVIDER' THEN 0 END,
           CASE kind WHEN 'OPERATOR' THEN 'x' END, CASE kind WHEN 'OPERATOR' THEN 'x' END, 'x', now(), now()
      FROM unnest(ARRAY['PROVIDER', 'OPERATOR']) kind, generate_series(0, 3) n`);
  await database.sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, created_at, updated_at)
     SELECT 'provider' || n % 4, 't' || n, gen_random_uuid(), 'BET',
            CASE n % ${UNDECIDED_EVERY} WHEN 0 THEN 'TIMED_OUT' ELSE 'APPROVED' END, 'operator' || n % 4, 'REAL',
            'player', 'g', 'EUR', 1, 'round' || n, 1, CASE n % ${UNDECIDED_EVERY} WHEN 0 THEN NULL ELSE '{}' END, at, at
       FROM (SELECT n, now() - n * interval '10 seconds' AS at FROM generate_series(1, ${ROWS}) n) numbered`,
  );
  await database.sql.run(`
    WITH item AS (
      INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
      VALUES (gen_random_uuid(), 'reconciliation', 'x', 'OPEN', 'x', now()) RETURNING item_id)
    INSERT INTO attention_events (item_id, event, actor, created_at)
    SELECT item_id, 'commented', 'x', now() - (${ROWS} - n) * interval '1 second' FROM item, generate_series(1, ${ROWS}) n
     ORDER BY n`);
  await database.sql.run(`
    INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
    VALUES ('game', 'provider1', 'x', 'ACTIVE', now(), now())`);
  // The grants of one batch in a thousand are PENDING or have due cancels.
  await database.sql.run(
    `WITH batch AS (
       INSERT INTO free_spin_batches (batch_id, operator_id, fingerprint, game_id, created_at)
       SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'operator1', sha256('x'), 'game',
              now() - n * interval '1 minute'
         FROM generate_series(1, ${BATCHES}) n
       RETURNING batch_id, right(batch_id::text, 12)::integer AS n)
     INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
                                   bet_amount_minor, currency, attempt, external_ref, cancel_due, batch_id, updated_at)
     SELECT n || '-' || grant_of_batch, CASE n % 1000 WHEN 0 THEN 'PENDING' ELSE 'GRANTED' END, 'operator1', 'provider1',
            'p', 'game', 1, 0, 'EUR', 1, CASE WHEN n % 1000 <> 0 THEN 'x' END, n % 1000 = 1, batch_id,
            now() - n * interval '1 minute'
       FROM batch, generate_series(1, 10) grant_of_batch`,
  );
  await database.sql.run('VACUUM (ANALYZE)');
});

test.each([
  ['the undecided transactions', COUNT_UNDECIDED, {}, ROWS / UNDECIDED_EVERY],
  ['the minutes', READ_MINUTES, {}, 60],
  ['the amounts', READ_AMOUNTS, {}, 60],
  ['the health', READ_HEALTH, { tenantIds: ['operator1'], minutes: 5 }, 60],
  // An event a second, until the table is filled and analyzed.
  ['the latest event', LATEST_EVENT, { seconds: 30 }, 31],
  ['the items of events', ITEMS_OF_EVENTS, { after: ROWS - 100, seen: [], limit: 50 }, 200],
  ['the states of approvals', STATES, { known: [] }, 10],
  // 40 batches run: the search reads their 400 grants and each batch, their progress each batch and its grants.
  ['the batches that run', RUNNING, { known: [] }, 2_000],
  ['the known batches', RUNNING, { known: ['00000000-0000-4000-8000-000000000002'] }, 2_000],
])('%s are read without other rows', async (_, statement, values, most) => {
  for (const nodes of await database.planner.plansOf(statement, values)) {
    const read = nodesOnTables(nodes);
    expect(rowsTouched(read)).toBeLessThanOrEqual(most);
  }
});
