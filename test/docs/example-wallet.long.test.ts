import { type SignInput, signRequest } from '@croupier/provider-sdk';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { command } from '../../cli/test/support/command.js';
import { findEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { createTestDatabase, type TestDatabase } from '../world/database.js';
import { PATIENCE } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { type LaunchedSession, PROVIDER, useWorld } from '../world/world.js';

const OPERATOR = 'example-operator';

let database: TestDatabase;
let wallet: ChildProcess;
let walletUrl: string;
let secret: string;

const world = useWorld();
beforeAll(async () => {
  database = await createTestDatabase();
  const operator = { id: OPERATOR, name: OPERATOR, walletBaseUrl: world.wallet.baseUrl };
  secret = String((await world.admin('POST', '/v1/admin/operators', operator)).json['secret']);
  world.secrets.set(OPERATOR, secret);
  wallet = startWallet({ DATABASE_URL: database.url });
  walletUrl = await urlOf(wallet);
  await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { walletBaseUrl: walletUrl });
  // The wallet judges timestamps by the time of day.
  world.clock.advance(Date.now() / 1000 - world.clock.unixSeconds());
});

afterAll(async () => {
  wallet.kill('SIGTERM');
  await once(wallet, 'exit');
  await database.drop();
});

/** Starts the example as a process. Without DATABASE_URL, it starts a PostgreSQL of its own. */
function startWallet(environment: Record<string, string>): ChildProcess {
  return spawn(process.execPath, ['docs/integrate/example-wallet.mjs'], {
    env: {
      PATH: process.env['PATH'],
      TENANT: OPERATOR,
      CROUPIER_SECRET: secret,
      PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The address of a wallet, as soon as it listens. */
async function urlOf({ stdout }: ChildProcess): Promise<string> {
  const [line] = (await once(createInterface({ input: stdout! }), 'line')) as [string];
  return line.replace('wallet: ', '');
}

const launch = () => world.launch({}, OPERATOR);
const submit = async (session: LaunchedSession, kind: string, fields: object = {}) => {
  const body = world.transaction(session, kind, { ...fields });
  return { body, reply: await world.submit(body) };
};

test('certify-operator passes in all cases except those about restarts', { timeout: 120_000 }, async () => {
  const target = ['--url', walletUrl, '--tenant', OPERATOR, '--slow-ms', '20', '--calls', '50'];
  const players = ['--player', 'player-1', '--other-player', 'player-2', '--unknown-player', 'unknown-1'];
  const other = ['--other-currency', 'USD'];
  const { status, printed } = await command(['certify-operator', ...target, ...players, ...other], {
    secret,
  });
  expect(printed).toMatch(
    /^\d+ passed, 0 failed, 0 blocked by a failure, 2 skipped\nThe integration is certified\. Restarts/m,
  );
  expect(status).toBe(0);
});

test.each(['null', '[]', '"text"', '{', ''])('the body %j is a 400', async (body) => {
  for (const path of ['/transaction', '/balance'])
    expect(await send(path, body)).toMatchObject({ status: 400 });
});

test('a round, a refused BET, a ROLLBACK and the balance', async () => {
  const session = await launch();
  const { body: bet, reply } = await submit(session, 'BET', { amountMinor: 2_500 });
  expect(reply.json).toMatchObject({ status: 'APPROVED', balance: 97_500 });
  const win = await submit(session, 'WIN', { roundId: bet.roundId, amountMinor: 4_000 });
  expect(win.reply.json).toMatchObject({ status: 'APPROVED', balance: 101_500 });
  const tooMuch = await submit(session, 'BET', { amountMinor: 101_501 });
  expect(tooMuch.reply.json).toMatchObject({ status: 'DECLINED', declineReason: 'INSUFFICIENT_FUNDS' });
  const { body: undone } = await submit(session, 'BET', { amountMinor: 1_000 });
  const { transactionId: originalTransactionId, roundId } = undone;
  const rollback = await submit(session, 'ROLLBACK', { originalTransactionId, roundId });
  expect(rollback.reply.json).toMatchObject({ status: 'APPROVED', balance: 101_500 });
  expect((await world.balance(session)).json).toEqual({ balance: 101_500 });
});

test('the statement of the guide has no findings', async () => {
  const session = await launch();
  const { body: bet } = await submit(session, 'BET', { amountMinor: 2_500 });
  await submit(session, 'WIN', { roundId: bet.roundId, amountMinor: 4_000 });
  await submit(session, 'BET', { amountMinor: 1_000_000_000 });
  const { body: undone } = await submit(session, 'BET', { amountMinor: 1_000 });
  const { transactionId: originalTransactionId, roundId } = undone;
  await submit(session, 'ROLLBACK', { originalTransactionId, roundId });

  const [, select] = /COPY \((SELECT [^;]+?)\)\s+TO STDOUT/.exec(
    await readFile('docs/integrate/operator.md', 'utf8'),
  )!;
  const books = new Client({ connectionString: database.url });
  await books.connect();
  onTestFinished(() => books.end());
  const allDays = select!.replace('2026-03-01', '2000-01-01').replace('2026-03-02', '2999-12-31');
  const { rows, fields } = await books.query<(string | null)[]>({
    text: `SELECT * FROM (${allDays}) day WHERE "providerId" = '${PROVIDER}'`,
    rowMode: 'array',
  });
  expect(rows.length).toBeGreaterThanOrEqual(5);
  const statement = [fields.map(({ name }) => name), ...rows].map((row) => `${row.join(',')}\n`).join('');
  const range = 'from=2000-01-01T00:00:00Z&to=2999-12-31T00:00:00Z';
  const path = `/v1/admin/reconciliations?operatorId=${OPERATOR}&${range}`;
  const { status, json } = await world.admin('POST', path, statement, { 'Content-Type': 'text/csv' });
  expect({ status, found: json['findingsTotal'] }).toEqual({ status: 201, found: 0 });
});

test('a ROLLBACK of an unknown BET is approved and leaves a tombstone', async () => {
  const { playerRef } = await launch();
  const bet = { ...order(playerRef), kind: 'BET', amountMinor: 100 };
  const rollback = { ...order(playerRef), kind: 'ROLLBACK', originalTransactionId: bet.transactionId };
  expect(await call('/transaction', rollback)).toMatchObject({
    body: { status: 'APPROVED', balance: 100_000 },
  });
  expect(await call('/transaction', bet)).toMatchObject({
    body: { status: 'DECLINED', reason: 'TRANSACTION_ROLLED_BACK', balance: 100_000 },
  });
});

test('one transaction sent ten times at once moves money once, with one answer', async () => {
  const { playerRef } = await launch();
  const bet = { ...order(playerRef), kind: 'BET', amountMinor: 100 };
  const answers = await Promise.all(Array.from({ length: 10 }, () => call('/transaction', bet)));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(await call('/balance', { playerRef, currency: 'EUR' })).toMatchObject({ body: { balance: 99_900 } });
});

test('of twenty concurrent BETs of a player with money for ten, ten are approved', async () => {
  const { playerRef } = await launch();
  const bets = Array.from({ length: 20 }, () => ({ ...order(playerRef), kind: 'BET', amountMinor: 10_000 }));
  const answers = await Promise.all(bets.map((bet) => call('/transaction', bet)));
  expect(answers.filter(({ body }) => body['status'] === 'APPROVED')).toHaveLength(10);
  expect(await call('/balance', { playerRef, currency: 'EUR' })).toMatchObject({ body: { balance: 0 } });
});

test('one BET named by two ROLLBACKs at once is reversed once', async () => {
  const { playerRef } = await launch();
  const bet = { ...order(playerRef), kind: 'BET', amountMinor: 100 };
  await call('/transaction', bet);
  const rollbacks = [1, 2].map(() => ({
    ...order(playerRef),
    kind: 'ROLLBACK',
    originalTransactionId: bet.transactionId,
  }));
  for (const { body } of await Promise.all(rollbacks.map((one) => call('/transaction', one)))) {
    expect(body).toMatchObject({ status: 'APPROVED', balance: 100_000 });
  }
});

test.each([
  ['with another secret', { secret: 'another' }],
  ['for another tenant', { tenantId: 'somebody-else' }],
  ['ten minutes ago', { now: Math.floor(Date.now() / 1000) - 600 }],
])('a call signed %s is refused', async (_, wrong) => {
  expect(await call('/balance', { playerRef: 'p', currency: 'EUR' }, wrong)).toMatchObject({ status: 401 });
});

test('a nonce is accepted once', async () => {
  const nonce = randomUUID();
  const balance = { playerRef: 'p', currency: 'EUR' };
  expect(await call('/balance', balance, { nonce })).toMatchObject({ status: 200 });
  expect(await call('/balance', balance, { nonce })).toMatchObject({ status: 401 });
});

test('a call with the nonce of one 600.5 seconds before is refused', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const clock = join(folder.path, 'clock.mjs');
  await writeFile(
    clock,
    `const now = Date.now; let laterMs = 0; Date.now = () => now() + laterMs; process.on('SIGUSR2', () => (laterMs = 600_500));`,
  );
  const other = startWallet({ DATABASE_URL: database.url, NODE_OPTIONS: `--import=${clock}` });
  onTestFinished(() => void other.kill());
  const at = { url: await urlOf(other), nonce: randomUUID() };
  const balance = { playerRef: 'p', currency: 'EUR' };
  expect(await call('/balance', balance, at)).toMatchObject({ status: 200 });
  other.kill('SIGUSR2');
  const later = () => ({ url: at.url, now: Math.floor(Date.now() / 1000 + 600.5) });
  await vi.waitFor(
    async () => expect(await call('/balance', balance, later())).toMatchObject({ status: 200 }),
    PATIENCE,
  );
  expect(await call('/balance', balance, { ...later(), nonce: at.nonce })).toMatchObject({ status: 401 });
});

test('a call whose connection to PostgreSQL is lost fails, and its repetition succeeds', async () => {
  const { playerRef } = await launch();
  await call('/balance', { playerRef, currency: 'EUR' });
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('BEGIN');
  await holder.query('SELECT FROM accounts WHERE player_ref = $1 FOR UPDATE', [playerRef]);
  const bet = { ...order(playerRef), kind: 'BET', amountMinor: 100 };
  const waiting = call('/transaction', bet);
  const others = 'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
  await vi.waitFor(async () => {
    const { rowCount } = await holder.query(`SELECT ${others} AND wait_event_type = 'Lock'`);
    expect(rowCount).toBe(1);
  }, PATIENCE);
  await holder.query(`SELECT pg_terminate_backend(pid) ${others}`);
  expect(await waiting).toMatchObject({ status: 500 });
  await holder.query('COMMIT');
  expect(await call('/transaction', bet)).toMatchObject({ body: { status: 'APPROVED', balance: 99_900 } });
});

test('stops after SIGTERM while clients call it, and although one never sends its request', async () => {
  const stopping = startWallet({ DATABASE_URL: database.url });
  onTestFinished(() => void stopping.kill('SIGKILL'));
  const url = await urlOf(stopping);
  const silent = connect(Number(new URL(url).port), '127.0.0.1')
    .on('error', () => undefined)
    .resume();
  await once(silent, 'connect');
  let answered = 0;
  const clients = Array.from({ length: 4 }, async (_, number) => {
    for (;;) {
      const { status } = await call('/balance', { playerRef: `player-${number}`, currency: 'EUR' }, { url });
      if (status !== 200) return status;
      answered += 1;
    }
  });
  const refusals = Promise.allSettled(clients);
  await vi.waitFor(() => expect(answered).toBeGreaterThan(20), PATIENCE);
  stopping.kill('SIGTERM');
  expect((await refusals).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
  expect(silent.destroyed).toBe(false);
  await vi.waitFor(() => expect(stopping.exitCode).toBe(0), PATIENCE);
  await vi.waitFor(() => expect(silent.destroyed).toBe(true), PATIENCE);
});

describe('its own PostgreSQL', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());
  const dataDir = () => join(folder.path, 'croupier-example-wallet');

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'is stopped after %s during the start',
    async (signal) => {
      const starting = startWallet({ TMPDIR: folder.path });
      const exit = once(starting, 'exit');
      await vi.waitFor(
        async () => expect(await findEmbeddedPostgres(dataDir())).toHaveProperty('url'),
        PATIENCE,
      );
      starting.kill(signal);
      expect(await exit).toEqual([0, null]);
      expect(await findEmbeddedPostgres(dataDir())).toBe('stopped');
    },
  );

  test('is stopped if the port is in use', async () => {
    const starting = startWallet({ TMPDIR: folder.path, PORT: new URL(walletUrl).port });
    expect(await once(starting, 'exit')).toEqual([1, null]);
    expect(await findEmbeddedPostgres(dataDir())).toBe('stopped');
  });
});

function order(playerRef: string) {
  return {
    providerId: 'a-provider',
    transactionId: randomUUID(),
    playerRef,
    gameId: 'a-game',
    roundId: 'a-round',
    currency: 'EUR',
    amountMinor: 0,
  };
}

interface Overrides extends Partial<SignInput> {
  /** The address of another wallet. */
  url?: string;
}

const call = (path: string, fields: object, overrides: Overrides = {}) =>
  send(path, JSON.stringify(fields), overrides);

async function send(path: string, body: string, { url = walletUrl, ...overrides }: Overrides = {}) {
  const fresh = { nonce: randomUUID(), now: Math.floor(Date.now() / 1000) };
  const headers = signRequest({
    method: 'POST',
    path,
    body,
    tenantId: OPERATOR,
    secret,
    ...fresh,
    ...overrides,
  });
  const response = await fetch(url + path, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
