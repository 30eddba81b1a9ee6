import fc from 'fast-check';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reconcile } from '../../src/reconciliation/file-reconciliation.js';
import { HEADER } from '../../src/reconciliation/statement.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import {
  FOREIGN_GAME,
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  useWorld,
  type World,
} from '../world/world.js';
import { csvOf, type Line, linesOf } from './ledger-statement.js';

const SECOND_MS = 1000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
/** The operator's statement, all of whose lines agree with the platform. */
let statement: Line[];
let range: { from: Date; to: Date };

const world = useWorld();
beforeAll(async () => {
  folder = await temporaryFolder();
  range = { from: new Date(Date.now() - SECOND_MS), to: new Date(Date.now() + 3600 * SECOND_MS) };
  await play(world);
  statement = linesOf(world.wallet.entries);
});

afterAll(() => folder.remove());

/** Rounds that leave every decided state behind, on both sides. */
async function play(at: World): Promise<void> {
  const session = await at.launch({ playerRef: 'alice' });
  for (const round of ['1', '2', '3']) {
    await at.submit(at.transaction(session, 'BET', { transactionId: `bet-${round}`, roundId: round }));
    await at.submit(at.transaction(session, 'WIN', { transactionId: `win-${round}`, roundId: round }));
  }
  await at.submit(at.transaction(session, 'BET', { transactionId: 'too-much', amountMinor: 10 ** 9 }));
  // Booked, and rolled back; a second rollback is a verdict of our own, and so is a WIN on it.
  const rollback = (transactionId: string, of: string, roundId: string) =>
    at.submit(at.transaction(session, 'ROLLBACK', { transactionId, originalTransactionId: of, roundId }));
  await at.submit(at.transaction(session, 'BET', { transactionId: 'undone', roundId: 'u' }));
  await rollback('undo', 'undone', 'u');
  await rollback('undo-again', 'undone', 'u');
  await at.submit(at.transaction(session, 'WIN', { transactionId: 'win-on-undone', roundId: 'u' }));
  await rollback('undo-a-win', 'win-1', '1');
  // The target is unknown to both sides.
  await rollback('undo-unknown', 'never-sent', 'n');
  // Timed out, booked or not, and then rolled back.
  at.wallet.next({ do: 'drop' }, { transactionId: 'lost' });
  await at.submit(at.transaction(session, 'BET', { transactionId: 'lost', roundId: 'l' }));
  await rollback('undo-lost', 'lost', 'l');
  at.wallet.next({ do: 'book-then', then: { do: 'drop' } }, { transactionId: 'booked-and-lost' });
  await at.submit(at.transaction(session, 'BET', { transactionId: 'booked-and-lost', roundId: 'b' }));
  await rollback('undo-booked-and-lost', 'booked-and-lost', 'b');
  // Another provider, play money, and another operator's player.
  const foreign = await at.launch({ playerRef: 'bob', gameId: FOREIGN_GAME, currency: 'SEK' });
  for (const transactionId of ['bet-1', 'undone']) {
    await at.submit(at.transaction(foreign, 'BET', { transactionId, amountMinor: 7 }), OTHER_PROVIDER);
  }
  const demo = await at.launch({ playerRef: 'carol', mode: 'DEMO' });
  await at.submit(at.transaction(demo, 'BET', { transactionId: 'demo-bet' }));
}

/** The findings as `name id`, in the report's order, and the report as rows. */
async function found(
  lines: readonly Line[] | string,
  change: Partial<{ from: Date; to: Date; operatorId: string }> = {},
) {
  const statementPath = join(folder.path, 'statement.csv');
  const reportPath = join(folder.path, 'report.csv');
  await writeFile(statementPath, typeof lines === 'string' ? lines : csvOf(lines));
  const task = {
    operatorId: OPERATOR,
    ...range,
    ...change,
    databaseUrl: world.databaseUrl,
    statementPath,
    reportPath,
  };
  const outcome = await reconcile(task, () => undefined, new AbortController().signal);
  const [, ...rows] = (await readFile(reportPath, 'utf8')).trimEnd().split('\r\n');
  // Only the detail, after the name, may be quoted here.
  const names = rows.map((row) => row.replace(/^([^,]*),"[^"]*"/, '$1,').split(','));
  expect(Object.values(outcome.findings).reduce((sum, count) => sum + count, 0)).toBe(rows.length);
  expect(outcome.found).toHaveLength(Math.min(rows.length, 10));
  if (rows.length === 0) {
    expect(outcome.sums.map(({ operatorMinor }) => operatorMinor)).toEqual(
      outcome.sums.map(({ platformMinor }) => platformMinor),
    );
  }
  return { outcome, names: names.map(([name, , , id]) => `${name} ${id}`), rows };
}

const line = (transactionId: string) => {
  const index = statement.findIndex((candidate) => candidate.transactionId === transactionId);
  return { index, line: statement[index]! };
};

test('a statement made of the ledger agrees', async () => {
  expect(statement.length).toBeGreaterThan(12);
  const { outcome, names } = await found(statement);
  expect(names).toEqual([]);
  expect(outcome).toMatchObject({ lines: statement.length, matched: statement.length });
});

test('what each side has booked is summed up by currency and kind', async () => {
  const { index } = line('win-1');
  const { outcome } = await found(statement.with(index, { ...statement[index]!, amountMinor: '350' }));
  expect(outcome.sums).toContainEqual({
    currency: 'EUR',
    kind: 'WIN',
    operatorMinor: 550n,
    platformMinor: 300n,
  });
  expect(outcome.sums.map(({ currency, kind }) => `${currency} ${kind}`).sort()).toEqual([
    'EUR BET',
    'EUR ROLLBACK',
    'EUR WIN',
    'SEK BET',
  ]);
  expect(outcome.found).toMatchObject([
    { name: 'amount-differs', transactionId: 'win-1', amountMinor: 350, currency: 'EUR', kind: 'WIN' },
  ]);
});

test('texts of a statement with bidirectional controls are shown as escapes', async () => {
  const hostile = {
    ...statement[0]!,
    providerId: 'p\u202e1',
    transactionId: 't\u202e1',
    currency: 'E\u202eR',
  };
  const { outcome } = await found([...statement, hostile]);
  const currency = String.raw`E\u202eR`;
  expect(outcome.sums.map((sum) => sum.currency)).toContain(currency);
  expect(outcome.found).toMatchObject([
    { providerId: String.raw`p\u202e1`, transactionId: String.raw`t\u202e1`, currency },
  ]);
});

test('a statement without the lines that the contract makes optional agrees, too', async () => {
  const optional = ['too-much', 'undo-unknown', 'undo-lost'];
  expect(
    (await found(statement.filter(({ transactionId }) => !optional.includes(transactionId)))).names,
  ).toEqual([]);
});

test('a rolled-back BET keeps its line, and its ROLLBACK has one of its own', async () => {
  for (const id of ['undone', 'undo', 'undo-booked-and-lost']) {
    expect((await found(statement.toSpliced(line(id).index, 1))).names).toEqual([
      `missing-at-operator ${id}`,
    ]);
  }
});

describe('each corruption causes exactly its finding', () => {
  /** Lines of movements that both sides have booked. */
  const SURE = ['bet-1', 'win-1', 'bet-2', 'win-2', 'bet-3', 'win-3', 'undone', 'undo'];
  const corruptions: Record<string, (lines: Line[], at: number) => Line[]> = {
    'missing-at-operator': (lines, at) => lines.toSpliced(at, 1),
    'missing-at-platform': (lines, at) =>
      lines.toSpliced(at, 0, { ...lines[at]!, transactionId: 'unheard-of' }),
    'amount-differs': (lines, at) =>
      lines.with(at, { ...lines[at]!, amountMinor: String(Number(lines[at]!.amountMinor) + 1) }),
    'amount-differs ': (lines, at) => lines.with(at, { ...lines[at]!, currency: 'euro' }),
    'state-differs': (lines, at) => lines.with(at, { ...lines[at]!, status: 'DECLINED' }),
    'state-differs ': (lines, at) => lines.with(at, { ...lines[at]!, playerRef: 'mallory' }),
    'duplicate-line': (lines, at) => [...lines, lines[at]!],
    'ambiguous-time': (lines, at) =>
      lines.with(at, { ...lines[at]!, bookedAt: lines[at]!.bookedAt.replace('Z', '') }),
  };

  test.each(Object.entries(corruptions))('%s', async (name, corrupt) => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...SURE), async (id) => {
        // Providers may share ids: the first line with this id is that of the provider of these movements.
        const victim = name === 'missing-at-platform' ? 'unheard-of' : id;
        expect((await found(corrupt(statement, line(id).index))).names).toEqual([`${name.trim()} ${victim}`]);
      }),
      { numRuns: SURE.length },
    );
  });
});

test('the order of the lines does not matter', async () => {
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(statement, { minLength: statement.length }), async (lines) => {
      expect((await found(lines)).names).toEqual([]);
    }),
    { numRuns: 10 },
  );
});

test("transactions that are not this operator's real money are missing at the platform", async () => {
  const like = line('bet-1').line;
  const names = ['demo-bet', 'never-sent'].map((transactionId) => ({ ...like, transactionId }));
  expect((await found([...statement, ...names])).names).toEqual([
    'missing-at-platform demo-bet',
    'missing-at-platform never-sent',
  ]);
  const others = await found(statement.slice(0, 2), { operatorId: OTHER_OPERATOR });
  expect(others.names).toEqual(['missing-at-platform bet-1', 'missing-at-platform win-1']);
});

test('a record is missing only if its own time is in the range', async () => {
  const before = { from: new Date(0), to: new Date(1) };
  expect((await found([], before)).names).toEqual([]);
  expect((await found(statement, before)).names).toEqual([]);
  const strange = { ...line('bet-1').line, transactionId: 'strange' };
  expect((await found([...statement, { ...strange, bookedAt: '2001-01-01T00:00:00+01:00' }])).names).toEqual(
    [],
  );
  expect((await found([...statement, { ...strange, bookedAt: 'long ago' }])).names).toEqual([
    'ambiguous-time strange',
  ]);
});

test('a range contains its beginning, but not its end', async () => {
  const [record] = await world.sql.run<{ at: Date }>(
    `UPDATE transactions SET created_at = date_trunc('milliseconds', created_at)
      WHERE transaction_id = 'win-1' RETURNING created_at AS at`,
  );
  const { at } = record!;
  const later = new Date(at.getTime() + 1);
  const missing = 'missing-at-operator win-1';
  expect((await found([], { from: at, to: later })).names).toContain(missing);
  expect((await found([], { from: range.from, to: at })).names).not.toContain(missing);
});

test('an undecided transaction is unresolved, with or without a line', async () => {
  const session = await world.launch({ playerRef: 'dave' });
  world.wallet.next({ do: 'drop' }, { transactionId: 'waiting' });
  await world.submit(world.transaction(session, 'WIN', { transactionId: 'waiting' }));
  world.wallet.next({ do: 'book-then', then: { do: 'drop' } }, { transactionId: 'waiting-booked' });
  await world.submit(world.transaction(session, 'WIN', { transactionId: 'waiting-booked' }));
  const now = linesOf(world.wallet.entries);
  expect((await found(now)).names).toEqual(['unresolved waiting-booked', 'unresolved waiting']);
  expect((await found(now.slice(0, -1))).names).toEqual(['unresolved waiting', 'unresolved waiting-booked']);
  await world.sql.run(`DELETE FROM transactions WHERE transaction_id LIKE 'waiting%'`);
});

test('the report shows both sides next to each other, and contains no formula for a spreadsheet', async () => {
  const evil = { ...line('bet-1').line, playerRef: '=HYPERLINK("http://evil","a,b")', amountMinor: '99' };
  const { rows } = await found(statement.with(0, evil));
  const created = await world.sql.run<{ at: Date }>(
    `SELECT date_trunc('milliseconds', created_at) AS at FROM transactions WHERE transaction_id = 'bet-1' AND player_ref = 'alice'`,
  );
  const player = `"'=HYPERLINK(""http://evil"",""a,b"")",alice`;
  const times = `${evil.bookedAt},${created[0]!.at.toISOString()}`;
  const sides = `spinwell,bet-1,2,BET,BET,APPROVED,APPROVED,99,0.99,100,1.00,EUR,EUR,${player},,,${times}`;
  expect(rows).toEqual([
    `state-differs,playerRef differs,${sides}`,
    `amount-differs,"amountMinor differs: 0.99 EUR at the operator, 1.00 EUR on the platform",${sides}`,
  ]);
});

test('a statement that cannot be read changes nothing: the earlier report stays unchanged', async () => {
  const reportPath = join(folder.path, 'report.csv');
  await found(statement.slice(1));
  const before = await readFile(reportPath, 'utf8');
  const broken = `${csvOf(statement)}spinwell,half`;
  await expect(found(broken)).rejects.toThrow(
    `line ${statement.length + 2}, column 10: the line has 2 fields`,
  );
  await expect(found(`${HEADER}\r\n"`)).rejects.toThrow('line 2, column 1');
  expect(await readFile(reportPath, 'utf8')).toBe(before);
  expect((await readdir(folder.path)).sort()).toEqual(['report.csv', 'statement.csv']);
});

test('an interrupted run leaves no report under the final name, nor under another', async () => {
  const interrupted = new AbortController();
  const statementPath = join(folder.path, 'statement.csv');
  const reportPath = join(folder.path, 'interrupted.csv');
  await writeFile(statementPath, csvOf(statement));
  const task = { operatorId: OPERATOR, ...range, databaseUrl: world.databaseUrl, statementPath, reportPath };
  const run = reconcile(
    task,
    (stage) => stage === 'comparing' && interrupted.abort(new Error('enough')),
    interrupted.signal,
  );
  await expect(run).rejects.toThrow('enough');
  expect((await readdir(folder.path)).sort()).toEqual(['report.csv', 'statement.csv']);
});
