import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HEADER, readStatement, type StatementLine } from '../../src/reconciliation/statement.js';
import { OperatorWalletServer } from '../../src/sandbox/operator-wallet.server.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { startCounterparts } from './counterparts.js';
import { PATIENCE } from '../world/patience.js';

let counterparts: Awaited<ReturnType<typeof startCounterparts>>;

beforeEach(async () => {
  counterparts = await startCounterparts('the secret');
});
afterEach(() => counterparts.stop());

async function statement(parameters: Record<string, string> = {}) {
  const query = new URLSearchParams(parameters).toString();
  const response = await fetch(`${counterparts.walletOrigin}/sandbox/statement?${query}`);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The lines of a statement, as `reconcile` reads them. */
async function linesOf({ text }: { text: string }): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  const file = (async function* () {
    yield await Promise.resolve(Buffer.from(text));
  })();
  for await (const some of readStatement(file)) lines.push(...some);
  return lines;
}

const idsOf = async (answer: { text: string }) =>
  (await linesOf(answer)).map(({ transactionId }) => transactionId);

test('has one line for each booked transaction, as reconcile demands it', async () => {
  await counterparts.bet('bet');
  await counterparts.bet('bet');
  await counterparts.bet('too-much', { amountMinor: 100_001 });
  await counterparts.bet('undo', { kind: 'ROLLBACK', originalTransactionId: 'bet' });
  await counterparts.bet('correction', { kind: 'ADJUSTMENT', amountMinor: -5 });
  const answer = await statement();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(answer.text.startsWith(`${HEADER}\r\n`)).toBe(true);
  const common = { providerId: 'provider', playerRef: 'player', currency: 'EUR', originalTransactionId: '' };
  const bet = { ...common, kind: 'BET', amountMinor: 100, status: 'APPROVED' };
  expect(await linesOf(answer)).toMatchObject([
    { ...bet, transactionId: 'bet' },
    { ...bet, transactionId: 'too-much', amountMinor: 100_001, status: 'DECLINED' },
    { ...bet, transactionId: 'undo', kind: 'ROLLBACK', originalTransactionId: 'bet' },
    { ...bet, transactionId: 'correction', kind: 'ADJUSTMENT', amountMinor: -5 },
  ]);
});

test('keeps identifiers with quotes, commas and the beginning of a formula', async () => {
  const ids = ['a,b', 'a"b', '"', '=1+2', '-1', "'x"];
  for (const id of ids) await counterparts.bet(id);
  expect(await idsOf(await statement())).toEqual(ids);
});

test('has the transactions from the first time on and before the second', async () => {
  const bookedAt: string[] = [];
  for (const id of ['one', 'two', 'three']) {
    await counterparts.bet(id);
    const booked = (await linesOf(await statement())).at(-1)!.bookedAt;
    bookedAt.push(booked);
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(booked)), PATIENCE);
  }
  const [first, second, third] = bookedAt as [string, string, string];
  expect(await idsOf(await statement({ from: second }))).toEqual(['two', 'three']);
  expect(await idsOf(await statement({ to: second }))).toEqual(['one']);
  expect(await idsOf(await statement({ from: first, to: third }))).toEqual(['one', 'two']);
  expect(await idsOf(await statement({ from: second.replace('Z', '+00:00') }))).toEqual(['two', 'three']);
  expect(await idsOf(await statement({ from: '2000-01-01', to: '2000-01-02' }))).toEqual([]);
});

test.each([
  [{ from: 'yesterday' }, 'from must be a time'],
  [{ to: '2026-03-01T00:00:00' }, 'to must be a time'],
  [{ from: '2026-03-02', to: '2026-03-02' }, 'to must be later than from'],
  [{ form: '2026-03-02' }, 'form is not known'],
])('%j is refused', async (parameters: Record<string, string>, sentence) => {
  const { status, text } = await statement(parameters);
  expect([status, text]).toEqual([400, expect.stringContaining(sentence)]);
});

test('is sent whole if it has many lines', async () => {
  const folder = await temporaryFolder();
  const booked = {
    providerId: 'p',
    kind: 'BET',
    playerRef: 'x',
    currency: 'EUR',
    amountMinor: 1,
    movedMinor: -1,
  };
  const entries = Array.from({ length: 2_500 }, (_, number) => ({
    ...booked,
    transactionId: `bet-${number}`,
    status: 'APPROVED',
    bookedAt: '2026-01-01T00:00:00.000Z',
  }));
  const journal = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  await writeFile(join(folder.path, 'wallet.jsonl'), journal);
  const options = { tenantId: 'operator', folder: folder.path, port: 0, log: () => undefined };
  const wallet = await OperatorWalletServer.start(options);
  const response = await fetch(`${new URL(wallet.baseUrl).origin}/sandbox/statement`);
  expect(await idsOf({ text: await response.text() })).toEqual(
    entries.map(({ transactionId }) => transactionId),
  );
  await wallet.stop();
  await folder.remove();
});

test('is served by the wallet only, and documented there', async () => {
  const { provider, walletOrigin } = counterparts;
  expect((await fetch(`${provider.baseUrl}/sandbox/statement`)).status).toBe(404);
  expect((await fetch(`${walletOrigin}/sandbox/statement`, { method: 'POST' })).status).toBe(404);
  const documented = await (await fetch(`${walletOrigin}/docs-json`)).text();
  expect(documented).toContain('"/sandbox/statement":{"get":');
});
