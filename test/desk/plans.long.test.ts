import { beforeAll, describe, expect, test } from 'vitest';
import { valuesOf } from '../../src/database/statement.js';
import type { Query } from '../../src/database/database.js';
import type { Place } from '../../src/database/place.js';
import type { Section, TimeSpan } from '../../src/database/time-ordered.js';
import { OPEN_ROUNDS } from '../../src/attention/open-rounds.store.js';
import { SEARCH } from '../../src/desk/search/search.store.js';
import {
  roundPage,
  roundsWithId,
  SUMMANDS_OF_ROUND,
  TRANSACTIONS_OF_ROUND,
} from '../../src/desk/rounds/round.store.js';
import type { RoundKey } from '../../src/desk/rounds/round-sums.js';
import {
  readWindowEnd,
  type UnnamedStatement,
  WINDOW_ROWS,
  type WindowedFilter,
  windowedPage,
  type WindowedTable,
  windowEnd as endOfWindow,
} from '../../src/database/time-window.js';
import {
  needsWindow,
  type TransactionFilter,
  transactionPage,
  windowEnd,
} from '../../src/desk/transactions/transaction-search.sql.js';
import { type GrantFilter, grantPage } from '../../src/free-spins/grants/grant-page.store.js';
import {
  EXAMINED_WINS,
  FLAGGED_LATELY,
  type FlaggedFilter,
  flaggedPage,
  flaggedWindowEnd,
} from '../../src/free-spins/winnings/winnings.store.js';
import type { CallbackQuery } from '../../src/provider-callback/callback.admin.request.js';
import { callbackFilter, CALLBACKS } from '../../src/provider-callback/callback.store.js';
import type { SessionQuery } from '../../src/session/session.request.js';
import { sessionFilter, SESSIONS } from '../../src/session/session.store.js';
import { LAST_BALANCE } from '../../src/wallet/transaction.sql.js';
import { nodesOn, type PlanDatabase, rowsTouched, usePlanDatabase } from '../world/plan.js';

const ROWS = 200_000;
/** Number of recent callbacks, and of audit entries. */
const RECENT_REQUESTS = 5_000;
const LIMIT = 51;
/**
 * Maximum number of rows of the table that a page may read: those of each pair of tenants with transactions, doubled
 * for rows that do not match. Neither this number nor that of the blocks grows with the table.
 */
const TOUCHED_AT_MOST = 1_000;
const BLOCKS_AT_MOST = 2_500;
/**
 * The same for a page with a filter that no index serves: its window, once for each tenant that the other filters
 * permit, in rows and in blocks.
 */
const TOUCHED_IN_WINDOW = 8 * WINDOW_ROWS;
/** The same for a window along one index. */
const TOUCHED_ALONG_INDEX = WINDOW_ROWS + 10;
/** How many transactions of a pair a count of open rounds reads here, and its bound with the rows of their rounds. */
const COUNTED_TRANSACTIONS = 5_000;
const TOUCHED_BY_COUNT = 4 * COUNTED_TRANSACTIONS;
/**
 * The planner's estimate of the cost. If it expects that a plan is expensive, it will prefer to read a larger table as a
 * whole.
 */
const EXPECTED_AT_MOST = 200_000;
/** Flagged winnings: each examined WIN with its mark, its grant and the rows of its round. */
const TOUCHED_BY_FLAGS = 8 * EXAMINED_WINS;

/** The tenants and player of the n-th transaction, session, callback and grant, as SQL expressions. */
interface Past {
  readonly tenants: number;
  readonly provider: string;
  readonly operator: string;
  readonly player: string;
  readonly state: string;
}

/** A large operator and small ones, one of which stopped long ago; few transactions that are not APPROVED. */
const MANY: Past = {
  tenants: 12,
  provider: `'provider' || CASE WHEN n % 50 < 45 THEN 1 ELSE 1 + n % 4 END`,
  operator: `'operator' || CASE WHEN n < 500 THEN 5 WHEN n % 100 < 90 THEN 1 ELSE 1 + n % 4 END`,
  player: `'player' || n % 5000`,
  state: `CASE WHEN n % 50 = 7 THEN 'DECLINED' WHEN n % 900 = 8 THEN 'ROLLED_BACK'
               WHEN n % 1000 = 9 THEN 'TIMED_OUT' WHEN n % 20000 = 11 THEN 'PENDING' ELSE 'APPROVED' END`,
};

/**
 * Two operators and two providers of the usual size. The older rows are of a third operator and a third provider, most
 * of them of one player, who has few later rows. All DECLINED transactions are among these older rows.
 */
const FEW: Past = {
  tenants: 4,
  provider: `'provider' || CASE WHEN n <= 50000 THEN 3 ELSE 1 + n % 2 END`,
  operator: `'operator' || CASE WHEN n <= 50000 THEN 3 ELSE 1 + n % 3 % 2 END`,
  player: `'player' || CASE WHEN n <= 40000 THEN 77 ELSE n % 5000 END`,
  state: `CASE WHEN n <= 50000 AND n % 2 = 0 THEN 'DECLINED' WHEN n % 20000 = 11 THEN 'PENDING' ELSE 'APPROVED' END`,
};

let database: PlanDatabase;

/** Longest time for filling a database, also on a slow disk, in milliseconds. */
const SEED_MS = 300_000;

/** Fills a database for the tests that follow in the same block. */
function inTheWorldOf(past: Past): void {
  const created = usePlanDatabase();
  beforeAll(async () => {
    database = created;
    await seed(past);
  }, SEED_MS);
}

async function seed({ tenants, provider, operator, player, state }: Past): Promise<void> {
  const at = `timestamptz '2026-01-01Z' + n * interval '1 second'`;
  const numbered = (
    rows: number,
  ) => `(SELECT n, ${provider} AS provider_id, ${operator} AS operator_id, ${player} AS player_ref,
      ${state} AS state, ${at} AS at FROM generate_series(1, ${rows}) n) numbered`;
  await database.sql.run(`
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                         sealed_secret, created_at, updated_at)
    SELECT kind || n, upper(kind), 'x', CASE kind WHEN 'provider' THEN 'x' END, CASE kind WHEN 'provider' THEN 0 END,
           CASE kind WHEN 'operator' THEN 'x' END, CASE kind WHEN 'operator' THEN 'x' END, 'x', now(), now()
      FROM unnest(ARRAY['provider', 'operator']) kind, generate_series(1, ${tenants}) n`);
  await database.sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, lease_until, rollback_id,
       created_at, updated_at)
     SELECT provider_id, 't' || n, gen_random_uuid(), 'BET', state, operator_id, 'REAL', player_ref, 'g', 'EUR', 1,
            'round' || reverse((n / 3)::text), 1, '{}', CASE state WHEN 'PENDING' THEN now() END,
            CASE state WHEN 'ROLLED_BACK' THEN 'x' END, at, at
       FROM ${numbered(ROWS)}`,
  );
  await database.sql.run(`INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
    SELECT 'game' || n, 'provider' || n, 'x', 'ACTIVE', now(), now() FROM generate_series(1, ${tenants}) n`);
  // All sessions of one operator are revoked, few of the others.
  const revoked = `(n % 1000 = 0 OR operator_id = 'operator3')`;
  await database.sql.run(
    `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
       created_at, expires_at, revoked_at, revoke_reason)
     SELECT gen_random_uuid(), sha256(n::text::bytea), operator_id, provider_id, player_ref,
            replace(provider_id, 'provider', 'game'), 'EUR', 'REAL', at, now(),
            CASE WHEN ${revoked} THEN now() END, CASE WHEN ${revoked} THEN 'KICK' END
       FROM ${numbered(ROWS / 2)}`,
  );
  await database.sql.run(
    `INSERT INTO callbacks (provider_id, route, reference, body, created_at)
     SELECT provider_id,
            '/v1/game/' || CASE WHEN operator_id IN ('operator3', 'operator5') THEN 'session/revoke'
                                ELSE 'free-spins/grant' END,
            'ref' || n / 3, '{}', at
       FROM ${numbered(ROWS / 2)}`,
  );
  await database.sql.run(
    `INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
       bet_amount_minor, currency, attempt, external_ref, failure_error, created_at)
     SELECT n, CASE state WHEN 'DECLINED' THEN 'FAILED' ELSE 'GRANTED' END, operator_id, provider_id, player_ref,
            replace(provider_id, 'provider', 'game'), 1, 0, 'EUR', 1,
            CASE WHEN state <> 'DECLINED' THEN n::text END, CASE state WHEN 'DECLINED' THEN 'x' END, at
       FROM ${numbered(ROWS / 2)} ORDER BY n`,
  );
  // Winnings: most depend on the BET of their round; some name a batch, which mostly exists.
  await database.sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, free_spins_ref, attempt, response_body, created_at)
     SELECT provider_id, 'w' || n, gen_random_uuid(), 'WIN', 'APPROVED', operator_id, 'REAL', player_ref, 'g', 'EUR', 1,
            'round' || reverse((n / 3)::text), CASE n % 200 WHEN 10 THEN n::text WHEN 110 THEN 'nowhere' END, 1, '{}', at
       FROM ${numbered(ROWS / 2)} WHERE n % 10 IN (0, 8)`,
  );
  // Every WIN is marked, as if providers had caused each to be flagged for a while.
  await database.sql.run(
    `INSERT INTO flaggable_wins (provider_id, transaction_id, platform_transaction_id, operator_id, created_at)
     SELECT provider_id, transaction_id, platform_transaction_id, operator_id, created_at FROM transactions
      WHERE kind = 'WIN' ON CONFLICT DO NOTHING`,
  );
  // Half of all transactions have the same request id.
  await database.sql.run(
    `INSERT INTO attempt_ids (provider_id, transaction_id, platform_transaction_id, request_id, operator_transaction_id,
       created_at)
     SELECT provider_id, 't' || n, gen_random_uuid(), CASE n % 2 WHEN 0 THEN 'same' ELSE 'request' || n END, 'o' || n, at
       FROM ${numbered(ROWS)}`,
  );
  await database.sql.run(
    `INSERT INTO callbacks (provider_id, route, reference, request_id, body, created_at)
     SELECT 'provider1', '/v1/game/free-spins/grant', 'recent' || n, 'same', '{}', now() - n * interval '1 second'
       FROM generate_series(1, ${RECENT_REQUESTS}) n`,
  );
  await database.sql.run(
    `INSERT INTO audit_entries (actor, role, action, target, request_id)
     SELECT 'key:1', 'support', 'transactions.list', 'transactions', CASE n % 2 WHEN 0 THEN 'same' ELSE 'request' || n END
       FROM generate_series(1, ${RECENT_REQUESTS}) n`,
  );
  for (const table of [...BIG, 'tenants']) await database.sql.run(`VACUUM (ANALYZE) ${table}`);
}

/** The large tables. Of a partitioned table, this is the partition that has all rows here. */
const BIG = new Set([
  'transactions',
  'sessions',
  'callbacks_so_far',
  'free_spin_grants',
  'attempt_ids',
  'audit_entries_so_far',
  'flaggable_wins',
]);

async function expectCheap(
  { statement, values }: UnnamedStatement,
  touchedAtMost = TOUCHED_AT_MOST,
  blocksAtMost = BLOCKS_AT_MOST,
): Promise<void> {
  for (const nodes of await database.planner.plansOf(statement, values)) {
    const ofTables = nodesOn(nodes, BIG);
    expect(ofTables.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    expect(rowsTouched(ofTables)).toBeLessThanOrEqual(touchedAtMost);
    // The counts of rows leave out index entries that a scan skips; the number of blocks includes them.
    const [whole] = nodes;
    expect(whole!['Total Cost']).toBeLessThan(EXPECTED_AT_MOST);
    expect(whole!['Shared Hit Blocks'] + whole!['Shared Read Blocks']).toBeLessThanOrEqual(blocksAtMost);
  }
}

const query: Query = (statement, values) => database.sql.run(statement.text, valuesOf(statement, values));

/** The section of the list that a page examines; finding its end reads no more rows. */
async function windowOf(filter: TransactionFilter, before: Place | undefined): Promise<Section> {
  const end = windowEnd(filter, before);
  await expectCheap(end, TOUCHED_IN_WINDOW, TOUCHED_IN_WINDOW);
  return { before, downTo: await readWindowEnd(query, end) };
}

/** Expects that a page of the list reads few rows, or one window and no more to find its end. */
async function expectBounded(
  table: WindowedTable,
  filter: WindowedFilter,
  span: TimeSpan,
  isWindowed: boolean,
): Promise<void> {
  const end = endOfWindow(table, filter, span);
  expect(end !== undefined).toBe(isWindowed);
  if (!end) return expectCheap(windowedPage(table, filter, span, LIMIT));
  await expectCheap(end, TOUCHED_ALONG_INDEX, TOUCHED_IN_WINDOW);
  const page = windowedPage(table, filter, { ...span, downTo: await readWindowEnd(query, end) }, LIMIT);
  await expectCheap(page, TOUCHED_ALONG_INDEX, TOUCHED_IN_WINDOW);
}

const ID = '00000000-0000-4000-8000-000000000000';
const MIDDLE: Place = { at: '2026-01-02T03:46:40.000000Z', id: ID };
const NEAR_THE_END: Place = { at: '2026-01-01T00:16:40.000000Z', id: ID };
const FILTERS: [string, TransactionFilter][] = [
  ['nothing', {}],
  ['a large operator', { operatorId: 'operator1' }],
  ['an operator that stopped long ago', { operatorId: 'operator5' }],
  ['an operator without rows', { operatorId: 'operator8' }],
  ['a large provider', { providerId: 'provider1' }],
  ['a provider without rows', { providerId: 'provider8' }],
  ['an operator with only one provider', { operatorId: 'operator3' }],
  ['a provider with only one operator', { providerId: 'provider3' }],
  ['two tenants with transactions only between them', { operatorId: 'operator3', providerId: 'provider3' }],
  ['adjustments', { providerId: 'platform' }],
  ['adjustments at an operator', { operatorId: 'operator1', providerId: 'platform' }],
  ['two tenants', { operatorId: 'operator1', providerId: 'provider1' }],
  ['two tenants without common transactions', { operatorId: 'operator5', providerId: 'provider8' }],
  ['a player', { playerRef: 'player77' }],
  ['a player at an operator', { playerRef: 'player78', operatorId: 'operator2' }],
  ['an unknown player', { playerRef: 'nobody' }],
  ['a round', { roundId: 'round777' }],
  ['a round of a provider', { roundId: 'round777', providerId: 'provider1' }],
  ['a player’s session', { playerRef: 'player78', sessionId: ID }],
  ['a player at another operator', { playerRef: 'player78', operatorId: 'operator4' }],
  ['the undecided transactions of a player', { playerRef: 'player78', state: 'TIMED_OUT' }],
  ['PENDING', { state: 'PENDING' }],
  ['APPROVED', { state: 'APPROVED' }],
  ['APPROVED of an operator', { state: 'APPROVED', operatorId: 'operator2' }],
  ['DECLINED', { state: 'DECLINED' }],
  ['DECLINED of an operator that stopped long ago', { state: 'DECLINED', operatorId: 'operator5' }],
  ['DECLINED of an operator with only one provider', { state: 'DECLINED', operatorId: 'operator3' }],
  ['DECLINED of a small provider', { state: 'DECLINED', providerId: 'provider2' }],
  ['DECLINED adjustments', { state: 'DECLINED', providerId: 'platform' }],
  [
    'DECLINED of two tenants without common transactions',
    { state: 'DECLINED', operatorId: 'operator1', providerId: 'provider8' },
  ],
  ['TIMED_OUT', { state: 'TIMED_OUT' }],
  ['TIMED_OUT of an operator', { state: 'TIMED_OUT', operatorId: 'operator2' }],
  ['ROLLED_BACK', { state: 'ROLLED_BACK' }],
  ['an hour', { from: '2026-01-02T00:00:00Z', to: '2026-01-02T01:00:00Z' }],
  ['an hour of an operator', { from: '2026-01-02T00:00Z', to: '2026-01-02T01:00Z', operatorId: 'operator2' }],
  [
    'a long time of an operator',
    { from: '2026-01-01T00:00Z', to: '2026-01-03T00:00Z', operatorId: 'operator3' },
  ],
  ['a long time of a player', { from: '2026-01-01T00:00Z', to: '2026-01-03T00:00Z', playerRef: 'player77' }],
];

/** Filters that no index serves, and filters without matches. */
const WINDOWED: [string, TransactionFilter][] = [
  ['a kind', { kind: 'ROLLBACK' }],
  ['a kind of an operator', { kind: 'ROLLBACK', operatorId: 'operator1' }],
  ['a kind of a provider', { kind: 'ROLLBACK', providerId: 'provider1' }],
  ['a kind of two tenants', { kind: 'ROLLBACK', operatorId: 'operator1', providerId: 'provider1' }],
  ['a kind that was DECLINED', { kind: 'ROLLBACK', state: 'DECLINED' }],
  ['a kind of WIN', { winKind: 'JACKPOT' }],
  ['a kind of WIN of an operator', { winKind: 'JACKPOT', operatorId: 'operator1' }],
  ['a kind of WIN of a provider', { winKind: 'JACKPOT', providerId: 'provider1' }],
  ['a game', { gameId: 'nothing' }],
  ['a game that is APPROVED', { gameId: 'nothing', state: 'APPROVED' }],
  ['an amount', { amountMinor: 7, currency: 'EUR' }],
  ['a lowest amount', { minAmountMinor: 7 }],
  ['a highest amount of an operator', { maxAmountMinor: 0, operatorId: 'operator1' }],
  ['a range of amounts of a provider', { minAmountMinor: 7, maxAmountMinor: 9, providerId: 'provider1' }],
  ['an amount of a player', { amountMinor: 7, playerRef: 'player77' }],
  ['a session', { sessionId: ID }],
];

describe.each([
  ['many tenants', MANY],
  ['few tenants, some inactive for long', FEW],
])('with %s,', (_, past) => {
  inTheWorldOf(past);

  test.each([
    ['a transaction', 't777'],
    ['an operator’s transaction id', 'o777'],
    ['a request', 'request777'],
    ['a request id that every attempt has', 'same'],
    ['a round', 'round777'],
    ['a player', 'player77'],
    ['a player who was last seen long ago', 'player8'],
    ['a grant', '777'],
  ])('a search for %s reads few rows', async (__, id) => {
    await expectCheap({ statement: SEARCH, values: { id, uuid: null } });
  });

  test.each([
    ['a session', 'SELECT session_id::text AS id FROM sessions LIMIT 1'],
    ['a platform transaction id', 'SELECT platform_transaction_id::text AS id FROM attempt_ids LIMIT 1'],
    ['an unknown UUID', `SELECT '${ID}' AS id`],
  ])('a search for %s reads few rows', async (__, query) => {
    const [row] = await database.sql.run<{ id: string }>(query);
    await expectCheap({ statement: SEARCH, values: { id: row!.id, uuid: row!.id } });
  });

  test('a round reads its own rows', async () => {
    const [row] = await database.sql.run<{ provider: string }>(
      `SELECT provider_id AS provider FROM transactions WHERE round_id = 'round777'`,
    );
    const round = roundsWithId(row!.provider, 'round777', { mode: 'REAL' }, 2);
    await expectCheap(round, 10, 100);
    const [key] = await database.sql.run<RoundKey>(
      round.statement.text,
      valuesOf(round.statement, round.values),
    );
    const transactions = { statement: TRANSACTIONS_OF_ROUND, values: { ...key, limit: 1_001 } };
    await expectCheap(transactions, 10, 100);
    await expectCheap({ statement: SUMMANDS_OF_ROUND, values: { ...key, limit: 50_000 } }, 10, 100);
  });

  test('the count of open rounds reads the newest transactions of a pair, and their rounds', async () => {
    const values = { operatorId: 'operator1', providerId: 'provider1', limit: COUNTED_TRANSACTIONS };
    await expectCheap({ statement: OPEN_ROUNDS, values }, TOUCHED_BY_COUNT, 2 * TOUCHED_BY_COUNT);
  });

  test('the last balance of a player reads the newest transactions', async () => {
    const values = { playerRef: 'player77', operatorId: 'operator3', currency: 'EUR', mode: 'REAL' };
    await expectCheap({ statement: LAST_BALANCE, values }, 1_000, 4_000);
  });

  test('the search for flagged winnings reads the WINs that were marked last', async () => {
    await expectCheap({ statement: FLAGGED_LATELY, values: { limit: LIMIT } });
  });

  describe.each([
    ['the first page', undefined],
    ['a page in the middle', MIDDLE],
    ['a page near the end', NEAR_THE_END],
  ])('%s of', (__, before) => {
    test.each(FILTERS)('%s reads few rows', async (___, filter) => {
      await expectCheap(transactionPage(filter, { before }, LIMIT));
    });

    test.each(WINDOWED)('%s, without a match, reads its window', async (___, filter) => {
      expect(needsWindow(filter)).toBe(true);
      const section = await windowOf(filter, before);
      await expectCheap(transactionPage(filter, section, LIMIT), TOUCHED_IN_WINDOW, TOUCHED_IN_WINDOW);
    });

    test.each([
      ['nothing', {}],
      ['a large operator', { operatorId: 'operator1' }],
      ['an operator that stopped long ago', { operatorId: 'operator5' }],
      ['a provider', { providerId: 'provider2' }],
      ['two tenants', { operatorId: 'operator1', providerId: 'provider1' }],
      ['a player', { playerRef: 'player77' }],
      ['a game', { gameId: 'g' }],
      ['a game without rounds', { gameId: 'nothing', operatorId: 'operator1' }],
      ['a day', { from: '2026-01-02T00:00:00Z', to: '2026-01-03T00:00:00Z' }],
    ])('open rounds, %s: reads its window and their rounds', async (___, filter) => {
      const section = await windowOf(filter, before);
      await expectCheap(
        roundPage({ ...filter, open: true }, section, LIMIT),
        TOUCHED_IN_WINDOW,
        TOUCHED_IN_WINDOW,
      );
    });

    test.each([
      ['nothing', {}],
      ['a large operator', { operatorId: 'operator1' }],
      ['an operator that stopped long ago', { operatorId: 'operator5' }],
      ['an operator with only one provider', { operatorId: 'operator3' }],
      ['a provider', { providerId: 'provider2' }],
      ['a provider with only one operator', { providerId: 'provider3' }],
      ['a player', { playerRef: 'player77' }],
      ['a game', { gameId: 'game3' }],
      ['a player at an operator', { playerRef: 'player77', operatorId: 'operator1' }],
      ['a player with all sessions at an operator', { playerRef: 'player77', operatorId: 'operator3' }],
      ['the revoked', { revoked: 'true' }],
      ['an hour', { from: '2026-01-02T00:00:00Z', to: '2026-01-02T01:00:00Z' }],
    ] satisfies [string, SessionQuery][])('sessions, %s, reads few rows', async (___, filter) => {
      await expectBounded(SESSIONS, sessionFilter(filter), { ...filter, before }, false);
    });

    test.each([
      ['a game at an operator without it', { gameId: 'game3', operatorId: 'operator1' }],
      ['a game at an operator with only this game', { gameId: 'game3', operatorId: 'operator3' }],
      ['a game at an operator without rows', { gameId: 'game3', operatorId: 'operator8' }],
      ['the revoked of an operator', { revoked: 'true', operatorId: 'operator1' }],
      ['the revoked of an operator with only one provider', { revoked: 'true', operatorId: 'operator3' }],
      ['all but the revoked', { revoked: 'false' }],
      ['a provider at an operator without it', { providerId: 'provider3', operatorId: 'operator1' }],
      ['a game of a player', { playerRef: 'player77', gameId: 'game8' }],
      ['a game of a player at an operator', { playerRef: 'player77', operatorId: 'operator3', gameId: 'g' }],
      ['a game of another provider', { gameId: 'game3', providerId: 'provider1' }],
      [
        'an hour of the revoked of an operator',
        { from: '2026-01-01T02:00Z', to: '2026-01-01T03:00Z', revoked: 'true', operatorId: 'operator3' },
      ],
    ] satisfies [string, SessionQuery][])('sessions, %s, reads its window', async (___, filter) => {
      await expectBounded(SESSIONS, sessionFilter(filter), { ...filter, before }, true);
    });

    test.each([
      ['nothing', {}],
      ['a provider', { providerId: 'provider1' }],
      ['a provider with only one operator', { providerId: 'provider3' }],
      ['a provider without rows', { providerId: 'provider8' }],
      ['a rare route', { route: '/v1/game/session/revoke' }],
      ['a reference', { reference: 'ref777' }],
      ['an hour', { from: '2026-01-02T00:00:00Z', to: '2026-01-02T01:00:00Z' }],
    ] satisfies [string, CallbackQuery][])('callbacks, %s, reads few rows', async (___, filter) => {
      const place = before && { ...before, id: '1000' };
      await expectBounded(CALLBACKS, callbackFilter(filter), { ...filter, before: place }, false);
    });

    test.each([
      ['a route of a provider without it', { providerId: 'provider1', route: '/v1/game/session/revoke' }],
      ['a route of a provider with only it', { providerId: 'provider3', route: '/v1/game/session/revoke' }],
      ['a route of a provider without rows', { providerId: 'provider8', route: '/v1/game/session/revoke' }],
      ['a reference at another provider', { reference: 'ref777', providerId: 'provider8' }],
    ] satisfies [string, CallbackQuery][])('callbacks, %s, reads its window', async (___, filter) => {
      const place = before && { ...before, id: '1000' };
      await expectBounded(CALLBACKS, callbackFilter(filter), { ...filter, before: place }, true);
    });

    test.each([
      ['nothing', {}],
      ['a large operator', { operatorId: 'operator1' }],
      ['an operator that stopped long ago', { operatorId: 'operator5' }],
      ['an operator without rows', { operatorId: 'operator8' }],
      ['an hour', { from: '2026-01-01T20:00:00Z', to: '2026-01-01T21:00:00Z' }],
    ] satisfies [string, FlaggedFilter][])('flagged winnings, %s, reads its window', async (___, filter) => {
      const end = flaggedWindowEnd(filter, before);
      // A row that a bitmap finds counts twice.
      await expectCheap(end, 2 * EXAMINED_WINS);
      const section = { before, downTo: await readWindowEnd(query, end) };
      await expectCheap(flaggedPage(filter, section, LIMIT), TOUCHED_BY_FLAGS, TOUCHED_BY_FLAGS * 2);
    });

    test.each([
      ['nothing', {}],
      ['an operator', { operatorId: 'operator1' }],
      ['an operator that stopped long ago', { operatorId: 'operator5' }],
      ['an operator with only one provider', { operatorId: 'operator3' }],
      ['a provider with only one operator', { providerId: 'provider3' }],
      ['a player', { playerRef: 'player77' }],
      ['a game', { gameId: 'game2' }],
      ['a game with only one operator', { gameId: 'game3' }],
      ['a game without grants', { gameId: 'game8' }],
      ['a game without grants at an operator', { operatorId: 'operator1', gameId: 'game8' }],
      ['a rare state at an operator', { operatorId: 'operator1', state: 'PENDING' }],
      ['a state', { state: 'FAILED' }],
      ['a state without grants', { state: 'CANCELLED' }],
      ['an hour', { from: '2026-01-01T20:00:00Z', to: '2026-01-01T21:00:00Z' }],
      ['until a day', { to: '2026-01-01T06:00:00Z' }],
      ['a long time', { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }],
      [
        'a long time of an operator',
        { from: '2026-01-01T00:00Z', to: '2026-02-01T00:00Z', operatorId: 'operator3' },
      ],
      ['since a day without grants', { from: '2026-02-01T00:00:00Z' }],
      [
        'an hour of an operator',
        { from: '2026-01-01T02:00Z', to: '2026-01-01T03:00Z', operatorId: 'operator1' },
      ],
      ['a minute of a state', { from: '2026-01-01T02:00Z', to: '2026-01-01T02:01Z', state: 'GRANTED' }],
    ] satisfies [string, GrantFilter][])('grants, %s, reads few rows', async (___, filter) => {
      const number = before && (Date.parse(before.at) - Date.parse('2026-01-01Z')) / 1000;
      await expectCheap(grantPage(filter, number, LIMIT));
    });
  });

  // Last, because it adds rows.
  if (past === MANY) {
    describe('for a player of whose rows the statistics know nothing,', () => {
      beforeAll(async () => {
        for (const table of ['transactions', 'sessions', 'free_spin_grants']) {
          await database.sql.run(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
        }
        // With many operators, the planner expects that each has few sessions.
        await database.sql.run(`
          INSERT INTO tenants (id, kind, name, wallet_base_url, wallet_adapter, sealed_secret, created_at, updated_at)
          SELECT 'small' || n, 'OPERATOR', 'x', 'x', 'x', 'x', now(), now() FROM generate_series(1, 5000) n`);
        await database.sql.run(
          `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
             created_at, expires_at)
           SELECT gen_random_uuid(), sha256(n::text::bytea || '+'), 'small' || n, 'provider1', 'p', 'game1', 'EUR', 'REAL',
                  now(), now() FROM generate_series(1, 5000) n`,
        );
        await database.sql.run('VACUUM (ANALYZE) sessions');
        const rows = `generate_series(1, 20000) n`;
        const at = `timestamptz '2026-01-01Z' + n * interval '1 second'`;
        await database.sql.run(
          `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
             player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, created_at)
           SELECT 'provider1', 'of-new-' || n, gen_random_uuid(), 'BET', 'APPROVED', 'operator1', 'REAL', 'new', 'g', 'EUR', 1,
                  'of-new-' || n, 1, '{}', ${at} FROM ${rows}`,
        );
        await database.sql.run(
          `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
             created_at, expires_at)
           SELECT gen_random_uuid(), sha256(n::text::bytea || '-'), 'operator1', 'provider1', 'new', 'game1', 'EUR', 'REAL',
                  ${at}, now() FROM ${rows}`,
        );
        await database.sql.run(
          `INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
             bet_amount_minor, currency, attempt, external_ref, created_at)
           SELECT 'of-new-' || n, 'GRANTED', 'operator1', 'provider1', 'new', 'game1', 1, 0, 'EUR', 1, 'of-new-' || n, ${at}
             FROM ${rows}`,
        );
      }, SEED_MS);

      test('a search reads few rows', async () => {
        await expectCheap({ statement: SEARCH, values: { id: 'new', uuid: null } });
      });

      test.each([
        ['the first page', undefined],
        ['a page near the end', NEAR_THE_END],
      ])('%s of the lists reads few rows', async (_, before) => {
        await expectCheap(transactionPage({ playerRef: 'new' }, { before }, LIMIT));
        await expectBounded(SESSIONS, sessionFilter({ playerRef: 'new' }), { before }, false);
        await expectBounded(
          SESSIONS,
          sessionFilter({ playerRef: 'new', operatorId: 'operator1' }),
          { before },
          false,
        );
        await expectCheap(grantPage({ playerRef: 'new' }, before && 1_000, LIMIT));
      });
    });
  }
});
