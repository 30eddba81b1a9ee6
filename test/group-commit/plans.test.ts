import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLANNER } from '../../src/database/group-commit.js';
import type { GroupStatement } from '../../src/database/group-statement.js';
import { valuesOf } from '../../src/database/statement.js';
import { BY_TOKEN } from '../../src/session/session.store.js';
import { CLAIM_NEW_BET, CLAIM_NEW_WIN } from '../../src/wallet/fresh-claim.sql.js';
import { SETTLE, SETTLE_ROLLBACK } from '../../src/wallet/settlement.sql.js';
import { LOAD } from '../../src/wallet/transaction.sql.js';
import { useDatabase } from '../world/database.js';
import {
  type ExecutedNode,
  type Explained,
  nodesOf,
  nodesOn,
  type PlanNode,
  rowsTouched,
} from '../world/plan.js';

/** The columns by which rows of a growing table may be looked up. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  transactions_pkey: ['provider_id', 'transaction_id'],
  transactions_of_round: ['round_id', 'player_ref', 'provider_id'],
  transactions_rollbacks: ['provider_id', 'original_transaction_id'],
  rounds_pkey: ['provider_id', 'round_id', 'player_ref', 'game_id', 'operator_id', 'mode'],
  sessions_token_hash_key: ['token_hash'],
};
const GROWING = ['transactions', 'rounds', 'sessions'];

const STATEMENTS = [CLAIM_NEW_BET, CLAIM_NEW_WIN, LOAD, SETTLE, SETTLE_ROLLBACK, BY_TOKEN].flatMap(
  ({ single, batch }) => [single, batch],
);

const database = useDatabase();
let client: pg.Client;

beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url, options: PLANNER });
  await client.connect();
  await client.query(
    `INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                          sealed_secret, created_at, updated_at)
     VALUES ('p', 'PROVIDER', 'x', 'x', 0, NULL, NULL, 'x', now(), now()),
            ('o', 'OPERATOR', 'x', NULL, NULL, 'x', 'x', 'x', now(), now())`,
  );
  await client.query(
    `INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
     VALUES ('g', 'p', 'x', 'ACTIVE', now(), now())`,
  );
});
afterAll(() => client.end());

/** Fills the tables up to this number of rows, all of one provider, and analyzes them. */
async function fillUpTo(rows: number): Promise<void> {
  const numbered = `generate_series(1, ${rows}) n`;
  await client.query(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, attempt, response_body)
     SELECT 'p', n, gen_random_uuid(), 'BET', 'APPROVED', 'o', 'REAL', n, 'g', 'EUR', 1, n, 1, '{}' FROM ${numbered}
     ON CONFLICT DO NOTHING`,
  );
  await client.query(
    `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
       created_at, expires_at)
     SELECT gen_random_uuid(), sha256(n::text::bytea), 'o', 'p', n, 'g', 'EUR', 'REAL', now(), now() + interval '1 hour'
       FROM ${numbered}
     ON CONFLICT DO NOTHING`,
  );
  await client.query(
    `INSERT INTO rounds (provider_id, operator_id, player_ref, game_id, round_id, mode, version)
     SELECT 'p', 'o', n, 'g', n, 'REAL', 1 FROM ${numbered} ON CONFLICT DO NOTHING`,
  );
  await client.query('ANALYZE');
}

/** The nodes of the plan that a connection of group commit would keep. */
async function planOf({ name, text }: { name: string; text: string }): Promise<PlanNode[]> {
  await client.query(`PREPARE ${name} AS ${text}`);
  const { rows: parameters } = await client.query<{ count: number }>(
    'SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements WHERE name = $1',
    [name],
  );
  const nulls = Array.from({ length: parameters[0]!.count }, () => 'NULL').join(', ');
  const { rows } = await client.query<Explained<PlanNode>>(
    `EXPLAIN (FORMAT json) EXECUTE ${name} (${nulls})`,
  );
  await client.query(`DEALLOCATE ${name}`);
  return nodesOf(rows);
}

function expectLookedUpByKey(nodes: readonly PlanNode[]): void {
  const scans = nodes.filter(
    ({ 'Relation Name': table = '', 'Node Type': type }) => GROWING.includes(table) && type.endsWith('Scan'),
  );
  expect(scans).not.toEqual([]);
  for (const { 'Index Name': index = 'none', 'Index Cond': condition = '' } of scans) {
    const key = KEYS[index];
    expect(key, `${index} looked up by ${condition}`).toBeDefined();
    for (const column of key ?? []) expect(condition).toContain(`(${column} = `);
  }
}

// The plan of a connection is kept while the tables grow, so it must be right for the rows that come after it.
describe.each([0, 2, 20, 300, 3_000])('a plan that is made when there are %d rows', (rows) => {
  // The tables of the first case are as new as those of an installation: they have not been analyzed.
  beforeAll(() => (rows > 0 ? fillUpTo(rows) : undefined));

  test.each(STATEMENTS)('looks up each row by its key: $name', async (statement) => {
    expectLookedUpByKey(await planOf(statement));
  });
});

describe('in a round that has many BETs', () => {
  const request = {
    providerId: 'p',
    tokenHash: createHash('sha256').update('1').digest(),
    playerRef: '1',
    gameId: 'g',
    roundId: 'long',
  };

  beforeAll(async () => {
    await fillUpTo(1);
    await client.query(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, response_body)
       SELECT 'p', 'long-' || n, gen_random_uuid(), 'BET', 'APPROVED', 'o', 'REAL', 1, 'g', 'EUR', 1, 'long', 1, '{}'
         FROM generate_series(1, 2000) n`,
    );
  });

  /** The number of transactions that a statement reads or writes. */
  async function transactionsTouched({ single }: GroupStatement, values: object): Promise<number> {
    const { rows } = await client.query<Explained<ExecutedNode>>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) ${single.text}`,
      valuesOf(single, { ...request, ...values }),
    );
    return rowsTouched(nodesOn(nodesOf(rows), new Set(['transactions'])));
  }

  test('a WIN reads one of them', async () => {
    const touched = await transactionsTouched(CLAIM_NEW_WIN, {
      transactionId: 'win',
      platformTransactionId: randomUUID(),
      currency: 'EUR',
      amountMinor: 5,
      roundClosed: undefined,
      originalTransactionId: undefined,
      freeSpinsRef: undefined,
      winKind: 'GAME',
      promotionRef: undefined,
      leaseSeconds: 60,
    });
    const claimed = await client.query(`SELECT FROM transactions WHERE transaction_id = 'win'`);
    expect(claimed.rows).toHaveLength(1);
    expect(touched).toBeLessThan(10);
  });

  test('a repeated BET does not read the others', async () => {
    const touched = await transactionsTouched(LOAD, {
      transactionId: 'long-1',
      kind: 'BET',
      targetId: undefined,
    });
    expect(touched).toBeLessThan(10);
  });
});
