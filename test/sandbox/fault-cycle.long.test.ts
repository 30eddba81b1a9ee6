import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createExamples } from '../../src/sandbox/examples.js';
import { appliesTo, type FaultName, FAULTS } from '../../src/sandbox/faults/faults.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { PlatformClient } from '../../src/sandbox/platform-client.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { ADMIN_KEY, useWorld } from '../world/world.js';
import { rulesOf, setRules } from './counterparts.js';
import { PATIENCE } from '../world/patience.js';

/** How long the platform waits for the wallet, in milliseconds: longer than `answers-swapped` waits for a second call. */
const PATIENCE_MS = 600;
/** Number of tries after which a transaction should be decided. */
const TRIES = 40;
const GAME_ID = 'sandbox-slots';
const NAMES = Object.keys(FAULTS) as FaultName[];
const OF_WALLET = NAMES.filter((name) => appliesTo(name, 'BET') || appliesTo(name, 'balance'));
const PAIRS = 20;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let platform: PlatformClient;
let from: string;
let ids = 0;

const world = useWorld({ OPERATOR_TIMEOUT_MS: String(PATIENCE_MS) });
beforeAll(async () => {
  folder = await temporaryFolder();
  const options = { apiUrl: world.url, adminApiKey: ADMIN_KEY, folder: folder.path };
  sandbox = await startSandbox({ ...options, walletPort: 0, providerPort: 0, log: () => undefined });
  platform = new PlatformClient(world.url);
  await createExamples(sandbox.file);
  from = new Date().toISOString();
});
afterAll(async () => {
  await sandbox.stop();
  await folder.remove();
});

const walletOrigin = () => new URL(sandbox.file.walletUrl).origin;

type Session = Awaited<ReturnType<typeof launch>>;

async function launch(playerRef: string) {
  const player = { playerRef, gameId: GAME_ID, currency: 'EUR' };
  const { status, json } = await platform.signed(sandbox.file.operator, '/v1/operator/sessions', player);
  expect(status).toBe(201);
  return { ...player, sessionToken: String(json['sessionToken']) };
}

const transaction = (session: Session, kind: string, fields: Record<string, unknown> = {}) => {
  ids += 1;
  return {
    ...session,
    transactionId: `${kind.toLowerCase()}-${ids}`,
    kind,
    roundId: `round-${ids}`,
    ...(kind !== 'ROLLBACK' && { amountMinor: 100 + ids }),
    ...fields,
  };
};
type Body = ReturnType<typeof transaction>;

const send = (body: Body) => platform.signed(sandbox.file.provider, '/v1/wallet/transaction', body);

/** Submits as X-Next-Action says, until the transaction is decided. */
async function decide(body: Body): Promise<unknown> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { status, json, headers } = await send(body);
    if (status === 200) return json['status'];
    expect(['retry-same-request', 'wait-then-retry']).toContain(headers.get('x-next-action'));
    if (headers.get('x-next-action') === 'wait-then-retry') await pause(20);
  }
  throw new Error(`${body.transactionId} is not decided`);
}

const undoOf = ({ transactionId, roundId }: Body, session: Session) =>
  transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId });

/** Has the wallet or the provider misbehave in the next call of this player. */
const misbehave = (origin: string, fault: FaultName, on: string, playerRef: string) =>
  setRules(origin, { fault, on, playerRefPrefix: playerRef, ms: 50 });

const applied = async (origin: string) =>
  ((await rulesOf(origin)) as { applied: number }[]).map((rule) => rule.applied);

/** Reconciles over HTTP, and returns the report. */
async function reconcile(): Promise<Record<string, unknown>> {
  const to = new Date(Date.now() + 1_000).toISOString();
  const range = new URLSearchParams({ from, to }).toString();
  const statement = await (await fetch(`${walletOrigin()}/sandbox/statement?${range}`)).text();
  const { id } = sandbox.file.operator;
  const path = `/v1/admin/reconciliations?operatorId=${id}&${range}`;
  const answer = await world.admin('POST', path, statement, { 'Content-Type': 'text/csv' });
  expect(answer.status).toBe(201);
  return answer.json;
}

async function ledger(): Promise<LedgerEntry[]> {
  const lines = (await readFile(join(folder.path, 'wallet.jsonl'), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as LedgerEntry);
}

const isBooked = async ({ transactionId }: Body) =>
  (await ledger()).some((entry) => entry.transactionId === transactionId);

async function expectAllAgree(): Promise<void> {
  const undecided = `SELECT transaction_id FROM transactions WHERE state IN ('PENDING', 'TIMED_OUT')`;
  expect(await world.sql.run(undecided, [])).toEqual([]);
  const { matched, lines, findings } = await reconcile();
  expect(matched).toBe(lines);
  expect(lines).toBeGreaterThan(0);
  expect(Object.values(findings as object).every((count) => count === 0)).toBe(true);
}

test.each(OF_WALLET)('after %s in each operation, reconciling finds nothing', async (fault) => {
  const playerRef = `player-${fault}`;
  const session = await launch(playerRef);
  const origin = walletOrigin();

  if (appliesTo(fault, 'BET')) {
    const retried = transaction(session, 'BET');
    await misbehave(origin, fault, 'BET', playerRef);
    await decide(retried);
    expect(await applied(origin)).toEqual([1]);

    const givenUp = transaction(session, 'BET');
    await misbehave(origin, fault, 'BET', playerRef);
    await send(givenUp);
    await decide(undoOf(givenUp, session));
    if (fault === 'book-late')
      await vi.waitFor(async () => expect(await isBooked(givenUp)).toBe(true), PATIENCE);
  }
  if (appliesTo(fault, 'WIN')) {
    await misbehave(origin, fault, 'WIN', playerRef);
    await decide(transaction(session, 'WIN'));
    expect(await applied(origin)).toEqual([1]);
  }
  if (appliesTo(fault, 'ROLLBACK')) {
    const bet = transaction(session, 'BET');
    await decide(bet);
    await misbehave(origin, fault, 'ROLLBACK', playerRef);
    await decide(undoOf(bet, session));
    expect(await applied(origin)).toEqual([1]);
  }
  if (appliesTo(fault, 'ADJUSTMENT')) {
    await misbehave(origin, fault, 'ADJUSTMENT', playerRef);
    await adjust(playerRef);
    expect(await applied(origin)).toEqual([1]);
  }
  if (appliesTo(fault, 'balance')) {
    const { sessionToken } = session;
    await misbehave(origin, fault, 'balance', playerRef);
    await platform.signed(sandbox.file.provider, '/v1/wallet/balance', { sessionToken });
    expect(await applied(origin)).toEqual([1]);
  }
  await expectAllAgree();
});

async function adjust(playerRef: string): Promise<void> {
  ids += 1;
  const account = { operatorId: sandbox.file.operator.id, playerRef, currency: 'EUR' };
  const body = { ...account, adjustmentId: `adjustment-${ids}`, amountMinor: -5, reason: 'a test' };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { status } = await world.admin('POST', '/v1/admin/adjustments', body);
    if (status < 300) return;
  }
  throw new Error(`${body.adjustmentId} is not decided`);
}

test.each(NAMES.filter((name) => appliesTo(name, 'grant')))(
  'after %s in a grant, reconciling its winnings finds nothing',
  async (fault) => {
    const playerRef = `spinner-${fault}`;
    const session = await launch(playerRef);
    const grant = async () => {
      ids += 1;
      const spins = { playerRef, gameId: GAME_ID, spins: 3, betAmountMinor: 20, currency: 'EUR' };
      const body = { ...spins, requestRef: `grant-${ids}` };
      return (await platform.signed(sandbox.file.operator, '/v1/operator/free-spins', body)).json;
    };
    const freeSpinsRef = String((await grant())['externalRef']);
    await misbehave(sandbox.file.providerUrl, fault, 'grant', playerRef);
    await grant();
    expect(await applied(sandbox.file.providerUrl)).toEqual([1]);
    await decide(transaction(session, 'WIN', { freeSpinsRef }));
    await expectAllAgree();
  },
);

test('no swapped answer is booked as that of another call', async () => {
  const session = await launch('player-swapped');
  await setRules(walletOrigin(), {
    fault: 'answers-swapped',
    playerRefPrefix: 'player-swapped',
    times: 1_000,
  });
  const outcomes: unknown[][] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const small = transaction(session, 'BET', { amountMinor: 1 });
    const tooMuch = transaction(session, 'BET', { amountMinor: 1_000_000_000 });
    await Promise.all([send(small), send(tooMuch)]);
    // One after the other: their answers would change places again.
    outcomes.push([await decide(small), await decide(tooMuch)]);
  }
  expect(outcomes).toEqual(Array(PAIRS).fill(['APPROVED', 'DECLINED']));
  expect((await applied(walletOrigin()))[0]).toBeGreaterThanOrEqual(2 * PAIRS);

  const answers = await world.sql.run<{ id: string; booking: string }>(
    `SELECT transaction_id AS id, settled ->> 'operatorTransactionId' AS booking
       FROM transactions, jsonb_array_elements(attempts) AS settled WHERE settled ? 'operatorTransactionId'`,
    [],
  );
  const bookings = new Map(
    (await ledger()).map((entry) => [entry.transactionId, entry.operatorTransactionId]),
  );
  expect(answers.length).toBeGreaterThanOrEqual(2 * PAIRS);
  expect(answers.filter(({ id, booking }) => bookings.get(id) !== booking)).toEqual([]);
  await expectAllAgree();
});
