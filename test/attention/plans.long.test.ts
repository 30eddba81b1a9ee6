import { beforeAll, expect, test } from 'vitest';
import { COUNT, PRESENT } from '../../src/attention/attention.sql.js';
import { type AttentionFilter, attentionPage } from '../../src/attention/attention.store.js';
import { COUNT_IN_BATCHES, SEARCHES, STILL } from '../../src/attention/cause.store.js';
import { OPEN_ROUNDS, TRADING_PAIRS } from '../../src/attention/open-rounds.store.js';
import { type Statement, valuesOf } from '../../src/database/statement.js';
import { BEGIN_EXPIRIES } from '../../src/free-spins/queue/queue.store.js';
import { FLAGGED_LATELY, STILL_FLAGGED } from '../../src/free-spins/winnings/winnings.store.js';
import { CLAIM_UNSENT, PROVIDERS_WITH_UNSENT } from '../../src/session/revocation.store.js';
import { nodesOn, rowsTouched, usePlanDatabase } from '../world/plan.js';

const ROWS = 100_000;
const WINDOW = 100;
const TRANSACTIONS = 500;
/** Maximum number of rows that a statement may read: windows, with the item and the session of each row. */
const TOUCHED_AT_MOST = 1_000;
/** The same for the rounds of 500 transactions, each with all its rows. */
const TOUCHED_BY_ROUNDS = 5_000;
const ID = '00000000-0000-4000-8000-000000000000';

const database = usePlanDatabase();
beforeAll(async () => {
  await database.sql.run(`
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                         sealed_secret, created_at, updated_at)
    SELECT lower(kind) || n, kind, 'x', CASE kind WHEN 'PROVIDER' THEN 'x' END, CASE kind WHEN 'PROVIDER' THEN 0 END,
           CASE kind WHEN 'OPERATOR' THEN 'x' END, CASE kind WHEN 'OPERATOR' THEN 'x' END, 'x', now(), now()
      FROM unnest(ARRAY['PROVIDER', 'OPERATOR']) kind, generate_series(0, 3) n`);
  await database.sql.run(`INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
    SELECT 'game' || n, 'provider' || n, 'x', 'ACTIVE', now(), now() FROM generate_series(0, 3) n`);
  // One in a hundred is undecided, half of these are parked.
  await database.sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, free_spins_ref, attempt, response_body, rollback_id, parked_at, created_at,
       updated_at)
     SELECT 'provider' || n % 4, 't' || n, gen_random_uuid(), CASE n % 3 WHEN 0 THEN 'WIN' ELSE 'BET' END,
            CASE n % 100 WHEN 0 THEN 'TIMED_OUT' WHEN 1 THEN CASE n % 3 WHEN 0 THEN 'APPROVED' ELSE 'ROLLED_BACK' END
                         ELSE 'APPROVED' END, 'operator' || n / 4 % 4, 'REAL', 'player' || n % 500,
            'g', 'EUR', 1, 'round' || n / 2, CASE n % 30 WHEN 0 THEN 'batch' || n END, 1, '{}', CASE n % 100 WHEN 1 THEN 'x' END, CASE n % 200 WHEN 0 THEN now() END, at, at
       FROM (SELECT n, now() - n * interval '10 seconds' AS at FROM generate_series(1, ${ROWS}) n) numbered`,
  );
  await database.sql.run(
    `INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
       bet_amount_minor, currency, attempt, external_ref, granted_at, duplicate_of, failure_error, expires_at, expiry)
     SELECT n, CASE n % 10 WHEN 0 THEN 'FAILED' ELSE 'GRANTED' END, 'operator' || n % 4, 'provider' || n % 4, 'p',
            'game' || n % 4, 1, 0, 'EUR', 1, CASE WHEN n % 10 <> 0 THEN n::text END,
            CASE n % 10 WHEN 1 THEN now() END, CASE n % 10 WHEN 1 THEN '2' END, CASE n % 10 WHEN 0 THEN 'x' END,
            CASE n % 10 WHEN 2 THEN now() WHEN 3 THEN now() + interval '1 day' END, CASE n % 10 WHEN 2 THEN 'FAILED' END
       FROM generate_series(1, ${ROWS / 5}) n`,
  );
  // One in ten belongs to a batch of a hundred, and could not be cancelled.
  await database.sql.run(`
    INSERT INTO free_spin_batches (batch_id, operator_id, fingerprint, created_at)
    SELECT ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid, 'operator0', sha256('x'), now()
      FROM generate_series(0, ${ROWS / 5_000}) n;
    UPDATE free_spin_grants SET last_cancel_error = 'x',
           batch_id = ('00000000-0000-4000-9000-' || lpad((request_ref::integer / 1000)::text, 12, '0'))::uuid
     WHERE request_ref LIKE '%4'`);
  await database.sql.run(
    `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
       created_at, expires_at, revoked_at, revoke_reason)
     SELECT gen_random_uuid(), sha256(n::text::bytea), 'operator1', 'provider1', 'p', 'game1', 'EUR', 'REAL', now(), now(),
            now(), 'KICK'
       FROM generate_series(1, ${ROWS / 5}) n`,
  );
  // One in ten is unsent.
  await database.sql.run(
    `INSERT INTO session_revocations (session_id, sent, delivered, error, lease_until)
     SELECT session_id, n % 10 <> 1, CASE WHEN n % 10 <> 1 THEN n % 20 <> 0 END, CASE n % 20 WHEN 0 THEN 'x' END,
            CASE n % 10 WHEN 1 THEN now() END
       FROM (SELECT session_id, row_number() OVER () AS n FROM sessions) numbered`,
  );
  await database.sql.run(
    `INSERT INTO approvals (approval_id, state, kind, reference, deed, fingerprint, operator_id, currency, amount_minor,
       asked_by, created_at, expires_at)
     SELECT gen_random_uuid(), CASE n % 20 WHEN 0 THEN 'WAITING' ELSE 'EXPIRED' END, 'grant', n, '{}', sha256('x'),
            'operator1', 'EUR', 1, 'x', now() - n * interval '1 second', now() + interval '1 hour'
       FROM generate_series(1, ${ROWS / 5}) n`,
  );
  await database.sql.run(
    `INSERT INTO attention_items (item_id, kind, subject, state, cause_present, operator_id, provider_id, summary, assignee,
       closed_at, closed_by, created_at)
     SELECT gen_random_uuid(), CASE n % 2 WHEN 0 THEN 'transaction' ELSE 'grant' END, 'provider' || n % 4 || '/t' || n,
            CASE n % 100 WHEN 0 THEN 'OPEN' ELSE 'CLOSED' END, n % 50 = 0, 'operator' || n % 4, 'provider' || n % 4, 'x',
            CASE n % 500 WHEN 0 THEN 'Ada' END, CASE WHEN n % 100 <> 0 THEN now() END,
            CASE WHEN n % 100 <> 0 THEN 'x' END, now() - n * interval '1 second'
       FROM generate_series(1, ${ROWS / 2}) n`,
  );
  await database.sql.run('VACUUM (ANALYZE)');
}, 120_000);

const BIG = new Set([
  'transactions',
  'free_spin_grants',
  'sessions',
  'session_revocations',
  'approvals',
  'attention_items',
  'flaggable_wins',
]);

async function expectCheap(statement: Statement, values: object, touchedAtMost = TOUCHED_AT_MOST) {
  for (const nodes of await database.planner.plansOf(statement, values)) {
    const ofTables = nodesOn(nodes, BIG);
    expect(ofTables.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    expect(rowsTouched(ofTables)).toBeLessThanOrEqual(touchedAtMost);
  }
}

test.each(Object.keys(SEARCHES) as (keyof typeof SEARCHES)[])(
  'the search %s reads a window, from its beginning and from its middle',
  async (name) => {
    const { statement, begin } = SEARCHES[name];
    const after = ([at, ...keys]: readonly string[]) => ({
      limit: WINDOW,
      at,
      providerId: keys[0],
      id: keys.at(-1),
    });
    const read = (place: readonly string[]) =>
      database.sql.run<{ place: string[] }>(statement.text, valuesOf(statement, after(place)));
    await expectCheap(statement, after(begin));
    const rows = await read(begin);
    expect(rows).toHaveLength(WINDOW);
    await expectCheap(statement, after(rows.at(-1)!.place));
    const next = await read(rows.at(-1)!.place);
    expect(next[0]!.place).not.toEqual(rows.at(-1)!.place);
  },
);

test('the search for approvals returns the terms only of those without an item', async () => {
  const { statement, begin } = SEARCHES.approvals;
  const [at, id] = begin;
  const search = () =>
    database.sql.run<{ approvalId: string; known: boolean; terms: object | null }>(
      statement.text,
      valuesOf(statement, { at, id, limit: 2 }),
    );
  const [first, second] = await search();
  expect([first, second]).toMatchObject([
    { known: false, terms: {} },
    { known: false, terms: {} },
  ]);
  await database.sql.run(
    `INSERT INTO attention_items (item_id, kind, subject, state, cause_present, summary, created_at)
     VALUES (gen_random_uuid(), 'approval', $1, 'OPEN', true, 'x', now())`,
    [first!.approvalId],
  );
  expect(await search()).toMatchObject([
    { approvalId: first!.approvalId, known: true, terms: null },
    { approvalId: second!.approvalId, known: false, terms: {} },
  ]);
});

test.each(Object.keys(STILL) as (keyof typeof STILL)[])(
  'whether the cause of a %s is still present is looked up by key',
  async (kind) => {
    const ids = Array.from({ length: WINDOW }, (_, n) => (kind === 'transaction' ? `t${n}` : ID));
    const batchIds = ids.map(() => ID);
    await expectCheap(STILL[kind], { subjects: ids, providerIds: ids.map(() => 'provider1'), ids, batchIds });
  },
);

test('the failed grants of batches are counted by the keys of the batches', async () => {
  for (const statement of Object.values(COUNT_IN_BATCHES)) await expectCheap(statement, { batchIds: [ID] });
});

test('open rounds are counted among the newest transactions of a pair', async () => {
  await expectCheap(TRADING_PAIRS, { providerId: 'provider1' });
  await expectCheap(
    OPEN_ROUNDS,
    { operatorId: 'operator1', providerId: 'provider1', limit: TRANSACTIONS },
    TOUCHED_BY_ROUNDS,
  );
});

test('flagged winnings are searched among the newest rows', async () => {
  await expectCheap(STILL_FLAGGED, { providerIds: ['provider1'], transactionIds: ['t1'] });
  await expectCheap(FLAGGED_LATELY, { limit: WINDOW });
});

test('grants whose expiry begins are found among the live ones', async () => {
  await expectCheap(BEGIN_EXPIRIES, { limit: WINDOW });
});

test('a revocation that was left unsent is found without reading the others', async () => {
  await expectCheap(PROVIDERS_WITH_UNSENT, { providerIds: ['provider1', 'provider2'] }, 2);
  await expectCheap(CLAIM_UNSENT, { providerId: 'provider1', leaseSeconds: 1 }, 10);
});

test('items that are present are read in windows', async () => {
  await expectCheap(PRESENT, { kind: 'transaction', after: '', limit: WINDOW });
  await expectCheap(PRESENT, { kind: 'transaction', after: 'provider2/t', limit: WINDOW });
  await expectCheap(COUNT, {});
});

test.each<[string, AttentionFilter]>([
  ['nothing', {}],
  ['OPEN', { state: 'OPEN' }],
  ['OPEN of a kind', { state: 'OPEN', kind: 'transaction' }],
  ['CLOSED', { state: 'CLOSED' }],
  ['a kind', { kind: 'grant' }],
  ['an assignee', { assignee: 'Ada' }],
  ['an operator', { operatorId: 'operator1' }],
  ['CLOSED of a provider', { state: 'CLOSED', providerId: 'provider1' }],
  ['an hour', { from: '2026-01-02T00:00:00Z', to: '2026-01-02T01:00:00Z' }],
])('a page of %s reads few items', async (_, filter) => {
  const { statement, values } = attentionPage(filter, undefined, WINDOW);
  await expectCheap(statement, values);
});
