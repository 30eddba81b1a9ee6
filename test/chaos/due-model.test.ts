import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SimulatedDatabase } from '../../chaos/simulation/database.js';
import { type Database, queryOn } from '../../src/database/database.js';
import { UndecidedStore } from '../../src/wallet/resolving/undecided.store.js';
import type { SessionFacts } from '../../src/wallet/rules/facts.js';
import { SESSION as USUAL_SESSION } from '../rules/facts.js';
import { useDatabase } from '../world/database.js';

/**
 * Verifies the conditions on time in the simulation's model of the database: for the same rows at the same time, it must
 * find due, leased and fit for parking exactly what the resolver's statements do. The time stands still, so that rows can
 * lie on the limits. No row is an hour old, as in the simulation, which does not model the longer waits.
 */
const NOW = 1_800_000_000_000;
const PROVIDER = 'spinwell';
const WAIT_MS = 60_000;

const SESSION: SessionFacts = { ...USUAL_SESSION, sessionId: randomUUID(), providerId: PROVIDER };

const database = useDatabase();
let client: pg.Client;
let undecided: UndecidedStore;

beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('CREATE SCHEMA standing_still');
  for (const clock of ['statement_timestamp', 'clock_timestamp']) {
    await client.query(
      `CREATE FUNCTION standing_still.${clock}() RETURNS timestamptz LANGUAGE sql
         AS $$SELECT timestamptz '${new Date(NOW).toISOString()}'$$`,
    );
  }
  // A schema that precedes pg_catalog replaces its functions.
  await client.query('SET search_path = standing_still, pg_catalog, public');
  undecided = new UndecidedStore({ query: queryOn(client) } as unknown as Database);
});
afterAll(() => client.end());

/** Milliseconds, mostly at a limit or next to it. */
const near = (limit: number) =>
  fc.oneof(
    fc.constantFrom(limit - 1, limit, limit + 1),
    fc.integer({ min: limit - 5_000, max: limit + 60_000 }),
  );

const seldom = fc.nat(4).map((drawn) => drawn === 0);

const STATES = ['PENDING', 'PENDING', 'TIMED_OUT', 'TIMED_OUT', 'APPROVED', 'DECLINED'] as const;

const row = fc.record({
  kind: fc.constantFrom('BET' as const, 'WIN' as const),
  state: fc.constantFrom(...STATES),
  updatedAgoMs: near(WAIT_MS),
  leaseOverForMs: near(0),
  parked: seldom,
  beingRolledBack: seldom,
});
type Drawn = typeof row extends fc.Arbitrary<infer T> ? T : never;

/** Stores a row in the database and in its model. */
async function store(model: SimulatedDatabase, given: Drawn): Promise<string> {
  const { kind, state, parked } = given;
  const { operatorId, sessionId, mode, playerRef, gameId, currency } = SESSION;
  const transactionId = randomUUID();
  const platformTransactionId = randomUUID();
  const updatedAt = NOW - given.updatedAgoMs;
  const leaseUntil = state === 'PENDING' ? NOW - given.leaseOverForMs : null;
  const rollbackId = kind === 'BET' && given.beingRolledBack ? `undo-${transactionId}` : null;
  const responseBody = state === 'APPROVED' || state === 'DECLINED' ? '{}' : null;
  const columns = {
    provider_id: PROVIDER,
    transaction_id: transactionId,
    platform_transaction_id: platformTransactionId,
    kind,
    state,
    operator_id: operatorId,
    session_id: sessionId,
    mode,
    player_ref: playerRef,
    game_id: gameId,
    currency,
    amount_minor: 100,
    round_id: 'round-1',
    attempt: 1,
    attempts: [],
    rollback_id: rollbackId,
    response_body: responseBody,
    lease_until: leaseUntil === null ? null : new Date(leaseUntil),
    created_at: new Date(updatedAt),
    updated_at: new Date(updatedAt),
    parked_at: parked ? new Date(updatedAt) : null,
  };
  await client.query('INSERT INTO transactions SELECT * FROM jsonb_populate_record(NULL::transactions, $1)', [
    columns,
  ]);
  model.rows.set(transactionId, {
    providerId: PROVIDER,
    transactionId,
    platformTransactionId,
    kind,
    state,
    operatorId,
    sessionId,
    mode,
    playerRef,
    gameId,
    currency,
    amountMinor: 100,
    roundId: 'round-1',
    originalTransactionId: null,
    freeSpinsRef: null,
    winKind: null,
    promotionRef: null,
    verdict: null,
    attempt: 1,
    rollbackId,
    responseBody,
    leaseUntil,
    updatedAt,
    parked,
    claim: undefined,
    dependsOn: [],
  });
  return transactionId;
}

test('the model finds due, leased and fit for parking what the statements do', async () => {
  const met = { dueAtTheLimit: 0, leaseOverAtTheLimit: 0, notDue: 0, parked: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), async (rows) => {
      await client.query('DELETE FROM transactions');
      const model = new SimulatedDatabase(() => NOW, SESSION, 30_000, undefined);
      const stored = new Map<string, Drawn>();
      for (const given of rows) stored.set(await store(model, given), given);

      const due = (await undecided.due(SESSION.operatorId, rows.length)).map(
        ({ transactionId }) => transactionId,
      );
      expect(
        model
          .due()
          .map(({ transactionId }) => transactionId)
          .sort(),
      ).toEqual([...due].sort());
      for (const [transactionId, given] of stored) {
        const key = { providerId: PROVIDER, transactionId };
        const { leaseAlive } = (await undecided.find(key))!;
        expect({ given, leaseAlive: model.find(key)?.leaseAlive }).toEqual({ given, leaseAlive });
        const parked = await undecided.park(key);
        expect({ given, parked: model.park(key) }).toEqual({ given, parked });

        const isDue = due.includes(transactionId);
        if (isDue && given.updatedAgoMs === WAIT_MS) met.dueAtTheLimit += 1;
        if (isDue && given.state === 'PENDING' && given.leaseOverForMs === 0) met.leaseOverAtTheLimit += 1;
        if (!isDue) met.notDue += 1;
        if (parked) met.parked += 1;
      }
    }),
    { numRuns: 100 },
  );
  for (const [situation, count] of Object.entries(met)) {
    expect({ situation, met: count > 0 }).toEqual({ situation, met: true });
  }
});
