import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../world/temporary-folder.js';
import { OPERATOR, useWorld } from '../world/world.js';
import { csvOf, type Line, linesOf } from './ledger-statement.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let statement: Line[];

const world = useWorld();
beforeAll(async () => {
  folder = await temporaryFolder();
  const session = await world.launch();
  for (const kind of ['BET', 'WIN']) await world.submit(world.transaction(session, kind));
  statement = linesOf(world.wallet.entries);
});

afterAll(() => folder.remove());

/** The command as it was built, beside the running service. */
const command = (args: readonly string[], environment: Record<string, string> = {}) =>
  program(process.execPath, [join(process.cwd(), 'dist/commands/reconcile.js'), ...args], environment);

async function program(name: string, args: readonly string[], environment: Record<string, string> = {}) {
  const child = spawn(name, args, {
    cwd: folder.path,
    env: { PATH: process.env['PATH'], DATABASE_URL: world.databaseUrl, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out, err };
}

/** A character that a terminal must not receive; line breaks are ours. */
const UNSAFE = /(?![\r\n])[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/u;
const DAYS = ['--from', '2000-01-01', '--to', '2999-12-31T23:59:59+01:00'];
const OF_OPERATOR = ['--operator', OPERATOR, ...DAYS];

test('exit status 0 if all agree', async () => {
  await writeFile(join(folder.path, 'march.csv'), csvOf(statement));
  const { status, out, err } = await command([...OF_OPERATOR, '--statement', 'march.csv']);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toContain(
    [
      'march.csv: 2 lines, 2 of them known to the platform',
      'booked     BET        operator 1.00 EUR, platform 1.00 EUR',
      '           WIN        operator 1.00 EUR, platform 1.00 EUR',
      'findings   none: all agree',
    ].join('\n'),
  );
  expect(await readFile(join(folder.path, 'march.findings.csv'), 'utf8')).toMatch(
    /^finding,detail,[^\n]+\n$/,
  );
});

test('exit status 1 if there are findings, which the summary counts', async () => {
  await writeFile(join(folder.path, 'march.csv'), csvOf(statement.slice(1)));
  const report = join(folder.path, 'findings.csv');
  const { status, out } = await command([...OF_OPERATOR, '--statement', 'march.csv', '--report', report]);
  expect(status).toBe(1);
  const sentence = `missing-at-operator: BET spinwell/${statement[0]!.transactionId} of 1.00 EUR: the statement has no line for it`;
  expect(out).toMatch(
    /\nfindings {3}1\n {2}missing-at-operator {2}1\n {2}missing-at-operator: .*\nreport {5}.*findings\.csv\n$/,
  );
  expect(out).toContain(sentence);
  expect(await readFile(report, 'utf8')).toContain(
    `spinwell,${statement[0]!.transactionId},,,BET,,APPROVED,,,100,1.00,`,
  );
});

test('exit status 2, and no report, if the report cannot be written as a whole', async () => {
  // Fewer than are buffered, so that the whole report is one write.
  const lines = Array.from({ length: 200 }, (_, n) => ({
    ...statement[0]!,
    transactionId: `unknown-${n}`,
  }));
  await writeFile(join(folder.path, 'large.csv'), csvOf([...statement, ...lines]));
  // The limit of a file's size acts as a full disk does: a write ends early, and only the next one fails.
  const limited = `trap '' XFSZ; ulimit -f 16; exec "$0" "$@"`;
  const node = [process.execPath, join(process.cwd(), 'dist/commands/reconcile.js')];
  const { status, err } = await program('bash', [
    '-c',
    limited,
    ...node,
    ...OF_OPERATOR,
    '--statement',
    'large.csv',
  ]);
  expect([status, err]).toEqual([2, expect.stringContaining('EFBIG')]);
  expect(await readdir(folder.path)).not.toContainEqual(expect.stringContaining('large.findings'));
});

test('--record puts findings into the attention queue, once, and ends them when they are gone', async () => {
  const run = async (lines: readonly Line[]) => {
    await writeFile(join(folder.path, 'march.csv'), csvOf(lines));
    const { out } = await command([...OF_OPERATOR, '--statement', 'march.csv', '--record']);
    return out.trimEnd().split('\n').at(-1);
  };
  const items = async () =>
    (await world.admin('GET', '/v1/admin/attention?kind=reconciliation')).json['items'] as object[];
  const { transactionId } = statement[0]!;
  expect(await run(statement.slice(1))).toBe('recorded   items of the attention queue: 1 opened, 0 closed');
  const found = {
    state: 'OPEN',
    subject: `${OPERATOR}/spinwell/${transactionId}/missing-at-operator`,
    summary: `missing-at-operator: BET spinwell/${transactionId} of 1.00 EUR: the statement has no line for it`,
    href: `/v1/admin/transactions/spinwell/${transactionId}`,
  };
  expect(await items()).toMatchObject([found]);
  expect(await run(statement.slice(1))).toBe('recorded   items of the attention queue: 0 opened, 0 closed');
  expect(await run(statement)).toBe('recorded   items of the attention queue: 0 opened, 1 closed');
  expect(await items()).toMatchObject([{ ...found, state: 'CLOSED', closedBy: 'croupier' }]);
  expect(await run(statement.slice(1))).toBe('recorded   items of the attention queue: 1 opened, 0 closed');
  expect(await items()).toMatchObject([found, { state: 'CLOSED' }]);
});

test('control characters and bidirectional controls of a statement are shown as escapes', async () => {
  const hostile = 'bet\u001b[2J\n\u202e\u2028\u0085\u007f1';
  const shown = String.raw`bet\u001b[2J\u000a\u202e\u2028\u0085\u007f1`;
  const line = { ...statement[0]!, transactionId: hostile, currency: 'E\u001bR', playerRef: '\u2066ann' };
  const ofNobody = { ...line, providerId: 'spin\u202ewell' };
  await writeFile(join(folder.path, 'hostile\u202e.csv'), csvOf([...statement, line, ofNobody]));
  const files = ['--statement', 'hostile\u202e.csv', '--report', 'hostile.csv'];
  const { out, err } = await command([...OF_OPERATOR, ...files, '--record']);
  const report = await readFile(join(folder.path, 'hostile.csv'), 'utf8');
  const { json } = await world.admin('GET', '/v1/admin/attention?kind=reconciliation&state=OPEN');
  const { items } = json as { items: { subject: string; summary: string; providerId: string }[] };
  expect(out).toContain(`missing-at-platform: BET spinwell/${shown} of 100 minor units of E\\u001bR: `);
  expect(report).toContain(`,spinwell,${shown},4,BET,`);
  const subject = `${OPERATOR}/spinwell/${shown}/missing-at-platform`;
  expect(items.find((item) => item.subject === subject)?.summary).toContain(shown);
  expect(items.map(({ providerId }) => providerId)).toContain(String.raw`spin\u202ewell`);
  for (const text of [out, err, report, JSON.stringify(items)]) expect(text).not.toMatch(UNSAFE);
});

test.each([
  [
    'a statement with semicolons',
    [...OF_OPERATOR, '--statement', 'semicolons.csv'],
    'line 1, column 11: the fields are separated by semicolons',
  ],
  ['a statement in UTF-16', [...OF_OPERATOR, '--statement', 'utf16.csv'], 'the file is in UTF-16'],
  ['a file whose name has control characters', [...OF_OPERATOR, '--statement', 'a\u001b'], 'a\\u001b'],
  ['a line that is cut off', [...OF_OPERATOR, '--statement', 'broken.csv'], 'line 2, column 10: '],
  ['no such file', [...OF_OPERATOR, '--statement', 'none.csv'], '--statement: ENOENT'],
  [
    'no such folder',
    [...OF_OPERATOR, '--statement', 'broken.csv', '--report', 'none/r.csv'],
    '--report: ENOENT',
  ],
  [
    'a report in place of the statement',
    [...OF_OPERATOR, '--statement', 'a.csv', '--report', 'a.csv'],
    '--report: ',
  ],
  ['no such operator', ['--operator', 'nobody', ...DAYS, '--statement', 'broken.csv'], '--operator: '],
  [
    'a provider for an operator',
    ['--operator', 'spinwell', ...DAYS, '--statement', 'broken.csv'],
    '--operator: ',
  ],
  ['no operator', [...DAYS, '--statement', 'broken.csv'], '--operator: is required'],
  [
    'a time without a zone',
    ['--operator', OPERATOR, '--from', '2026-03-01T00:00', '--to', '2999-01-01'],
    '--from: ',
  ],
  ['a range without time', ['--operator', OPERATOR, '--from', '2026-03-01', '--to', '2026-03-01'], '--to: '],
  ['an unknown option', [...OF_OPERATOR, '--fix'], "'--fix'"],
])('exit status 2 for %s, with a sentence', async (_, args, words) => {
  await writeFile(join(folder.path, 'broken.csv'), `${csvOf([])}spinwell,half`);
  await writeFile(
    join(folder.path, 'semicolons.csv'),
    csvOf(statement).replaceAll(',', ';').replaceAll('"', ''),
  );
  await writeFile(join(folder.path, 'utf16.csv'), Buffer.from(`\uFEFF${csvOf(statement)}`, 'utf16le'));
  const { status, out, err } = await command(args);
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).not.toMatch(UNSAFE);
  expect(err).toMatch(/^reconcile: /);
  expect(err).toContain(words);
});

test('exit status 2 if there is no database', async () => {
  const args = [...OF_OPERATOR, '--statement', 'march.csv'];
  const none = await command(args, { DATABASE_URL: '', DATA_DIR: join(folder.path, 'data') });
  expect(none).toMatchObject({
    status: 2,
    err: expect.stringContaining('there is no database: set DATABASE_URL, or DATA_DIR'),
  });
  const closed = await command(args, { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
  expect(closed).toMatchObject({ status: 2, err: expect.stringContaining('ECONNREFUSED') });
});
