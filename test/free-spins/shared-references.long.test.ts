import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Statement, valuesOf } from '../../src/database/statement.js';
import { CLAIM_DUE_CANCEL } from '../../src/free-spins/queue/queue.store.js';
import { GRANTED, SUCCESSOR_OF } from '../../src/free-spins/grants/grant.sql.js';
import { FLAGGED_LATELY, OF_GRANT, STILL_FLAGGED } from '../../src/free-spins/winnings/winnings.store.js';
import { nodesOn, rowsTouched, usePlanDatabase } from '../world/plan.js';

/*
 * A provider may give the grants of all players of a campaign the same externalRef. However many players the campaign has,
 * the statements about one grant or one WIN must read few rows.
 */

const PLAYERS = 20_000;
/** WINs that name the campaign, of players without a grant. */
const FOREIGN = 20;
/** Maximum number of rows of the large tables that a statement may read: a few for each foreign WIN. */
const TOUCHED_AT_MOST = 20 * FOREIGN;
const BIG = new Set(['transactions', 'free_spin_grants', 'flaggable_wins']);

let client: pg.Client;

const database = usePlanDatabase();
beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await database.sql.run(`
    INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                         sealed_secret, created_at, updated_at)
    SELECT lower(kind), kind, 'x', CASE kind WHEN 'PROVIDER' THEN 'x' END, CASE kind WHEN 'PROVIDER' THEN 0 END,
           CASE kind WHEN 'OPERATOR' THEN 'x' END, CASE kind WHEN 'OPERATOR' THEN 'x' END, 'x', now(), now()
      FROM unnest(ARRAY['PROVIDER', 'OPERATOR']) kind`);
  await database.sql.run(`INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
    VALUES ('game', 'provider', 'x', 'ACTIVE', now(), now())`);
  await database.sql.run(
    `INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
       bet_amount_minor, currency, attempt, external_ref, granted_at, cancel_due)
     SELECT 'grant' || n, 'GRANTED', 'operator', 'provider', 'player' || n, 'game', 1, 0, 'EUR', 1, 'campaign',
            now() - interval '1 day' + n * interval '1 millisecond', n % 2 = 0
       FROM generate_series(1, ${PLAYERS}) n`,
  );
  await database.sql.run('VACUUM (ANALYZE)');
  await database.sql.run(insertWins('player', 1, PLAYERS));
  await database.sql.run(insertWins('stranger', 1, FOREIGN));
  await database.sql.run(
    `INSERT INTO flaggable_wins (provider_id, transaction_id, platform_transaction_id, operator_id, created_at, marked_at,
       free_spins_ref)
     SELECT 'provider', 'gone' || n, gen_random_uuid(), 'operator', now() - interval '1 day', now() - interval '1 day',
            'other' || n
       FROM generate_series(1, ${PLAYERS}) n`,
  );
  await database.sql.run('VACUUM (ANALYZE)');
}, 120_000);
afterAll(() => client.end());

const insertWins = (player: string, from: number, to: number) => `
  INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
    player_ref, game_id, currency, amount_minor, round_id, free_spins_ref, attempt, response_body)
  SELECT 'provider', '${player}-win' || n, gen_random_uuid(), 'WIN', 'APPROVED', 'operator', 'REAL', '${player}' || n,
         'game', 'EUR', 5, 'round-${player}' || n, 'campaign', 1, '{}'
    FROM generate_series(${from}, ${to}) n`;

const winningsOf = (requestRef: string) =>
  database.sql.run(OF_GRANT.text, valuesOf(OF_GRANT, { requestRef }));

test('each WIN counts in the grant of its player; those of strangers count in the newest grant', async () => {
  expect(await winningsOf('grant7')).toMatchObject([{ count: 1, totalMinor: 5, flagged: 0 }]);
  expect(await winningsOf(`grant${PLAYERS}`)).toMatchObject([{ count: 1, totalMinor: 5, flagged: FOREIGN }]);
});

test.each<[string, Statement, object]>([
  ['the winnings of a grant', OF_GRANT, { requestRef: 'grant7' }],
  ['the winnings of the newest grant', OF_GRANT, { requestRef: `grant${PLAYERS}` }],
  ['the flag of a WIN', STILL_FLAGGED, { providerIds: ['provider'], transactionIds: ['player-win7'] }],
  [
    'the flag of the WIN of a stranger',
    STILL_FLAGGED,
    { providerIds: ['provider'], transactionIds: ['stranger-win7'] },
  ],
  ['the latest flags', FLAGGED_LATELY, { limit: FOREIGN }],
  ['the newer grant of a player', SUCCESSOR_OF, { requestRef: 'grant7' }],
  [
    'the first grant of a player',
    GRANTED,
    { requestRef: 'grant7', externalRef: 'campaign', claimsCancel: false, leaseSeconds: 1 },
  ],
  ['a due cancel', CLAIM_DUE_CANCEL, { providerId: 'provider', after: 'operator', leaseSeconds: 1 }],
])('%s reads few rows', async (_, statement, values) => {
  for (const nodes of await database.planner.plansOf(statement, values)) {
    const ofTables = nodesOn(nodes, BIG);
    expect(ofTables.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    expect(rowsTouched(ofTables)).toBeLessThanOrEqual(TOUCHED_AT_MOST);
  }
});

test('the claim of a WIN reads few grants', async () => {
  await client.query('BEGIN');
  await client.query(insertWins('player', PLAYERS + 1, PLAYERS + 1));
  const { rows } = await client.query<{ grants: string }>(
    // Rows found by an index, and rows that a scan has read.
    `SELECT pg_stat_get_xact_tuples_fetched('free_spin_grants'::regclass)
          + pg_stat_get_xact_tuples_returned('free_spin_grants'::regclass) AS grants`,
  );
  await client.query('ROLLBACK');
  expect(Number(rows[0]!.grants)).toBeLessThanOrEqual(1);
});
