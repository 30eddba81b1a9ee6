import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CroupierError } from '../../src/errors/croupier-error.js';
import { ComparisonBounds } from '../../src/reconciliation/comparison-bounds.js';
import { reconcile } from '../../src/reconciliation/file-reconciliation.js';
import { HEADER } from '../../src/reconciliation/statement.js';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { TestClock } from '../world/test-clock.js';
import {
  ADMIN_KEY,
  bearer,
  CSV,
  OPERATOR,
  OTHER_OPERATOR,
  type Reply,
  startApplication,
  useWorld,
  type World,
} from '../world/world.js';
import { csvOf, type Line, linesOf } from './ledger-statement.js';

const PATH = '/v1/admin/reconciliations';
const RANGE = { from: '2000-01-01T00:00:00Z', to: '2999-12-31T00:00:00Z' };

let statement: Line[];

const world = useWorld();
beforeAll(async () => {
  const session = await world.launch();
  for (const kind of ['BET', 'WIN']) await world.submit(world.transaction(session, kind));
  statement = linesOf(world.wallet.entries);
});

const target = (parameters: Record<string, string> = {}) =>
  `${PATH}?${new URLSearchParams({ operatorId: OPERATOR, ...RANGE, ...parameters }).toString()}`;

function post(
  body: string | Buffer,
  parameters: Record<string, string> = {},
  headers: Record<string, string> = {},
  at: World = world,
): Promise<Reply> {
  return at.admin('POST', target(parameters), body, { 'Content-Type': 'text/csv', ...headers });
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const reply = await world.admin('GET', path, undefined, headers);
  expect(reply.status).toBe(200);
  return reply;
}

const countStored = async () =>
  (await world.sql.run<{ n: number }>('SELECT count(*)::integer AS n FROM reconciliations', []))[0]!.n;

/** The number of reconciliations that run on this database. */
const countConnections = async () =>
  (
    await world.sql.run<{ n: number }>(
      `SELECT count(*)::integer AS n FROM pg_stat_activity
        WHERE application_name = 'croupier-reconcile' AND datname = current_database()`,
      [],
    )
  )[0]!.n;

/** Begins an upload, and leaves it to the test to go on. */
async function beginUpload(
  url: string,
  headers: readonly string[],
  body = '',
  parameters: Record<string, string> = {},
): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    `POST ${target(parameters)} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${ADMIN_KEY}`,
    'Content-Type: text/csv',
    ...headers,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

/** The answer, up to the end of its headers and what came with them. */
async function answerOn(socket: Socket): Promise<string> {
  let text = '';
  while (!text.includes('\r\n\r\n')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text += chunk.toString();
  }
  return text;
}

const chunkOf = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe('the report', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  test('is that of the command for the same file, with the same findings', async () => {
    const [bet, win] = statement as [Line, Line];
    const csv = csvOf([
      { ...bet, amountMinor: '350' },
      { ...win, transactionId: '=1+1\u202e', currency: 'E\u001bR', playerRef: '@ann' },
      win,
      win,
    ]);
    const statementPath = join(folder.path, 'march.csv');
    const reportPath = join(folder.path, 'march.findings.csv');
    await writeFile(statementPath, csv);
    const range = { from: new Date(RANGE.from), to: new Date(RANGE.to) };
    const task = {
      operatorId: OPERATOR,
      ...range,
      databaseUrl: world.databaseUrl,
      statementPath,
      reportPath,
    };
    const outcome = await reconcile(task, () => undefined, new AbortController().signal);

    const { status, json } = await post(csv);
    expect(status).toBe(201);
    const { lines, matched, findings, sums } = outcome;
    expect(json).toMatchObject({
      operatorId: OPERATOR,
      from: '2000-01-01T00:00:00.000Z',
      to: '2999-12-31T00:00:00.000Z',
      lines,
      matched,
      findings,
      findingsTotal: 3,
      findingsStored: 3,
      findingsCut: false,
      sums: sums.map((sum) => ({
        ...sum,
        operatorMinor: Number(sum.operatorMinor),
        platformMinor: Number(sum.platformMinor),
      })),
      by: 'root',
    });
    expect(json).not.toHaveProperty('recorded');
    const path = `${PATH}/${String(json['reconciliationId'])}`;
    const found = await get(path);
    expect(found.json).toEqual(json);
    const { text } = await get(`${path}/findings`, CSV);
    expect(text).toBe(await readFile(reportPath, 'utf8'));
    expect(text).toContain(String.raw`'=1+1\u202e,3,BET`.replace('BET', 'WIN'));
    expect(text).toContain(String.raw`,E\u001bR,`);

    const page = await get(`${path}/findings?limit=2`);
    expect(page.json['items']).toMatchObject([
      { finding: 'amount-differs', operatorAmountMinor: 350, platformAmountMinor: 100 },
      { finding: 'missing-at-platform', transactionId: String.raw`=1+1\u202e` },
    ]);
    const next = await get(`${path}/findings?cursor=${String(page.json['nextCursor'])}`);
    expect(next.json).toEqual({
      items: [expect.objectContaining({ finding: 'duplicate-line', statementLine: 5 })],
    });
  });

  test('has no sum that is too large to be exact', async () => {
    const [first, second] = ['large-1', 'large-2'].map((transactionId, index) => ({
      ...statement[0]!,
      transactionId,
      currency: 'JPY',
      amountMinor: String(Number.MAX_SAFE_INTEGER - index),
    })) as [Line, Line];
    const yen = { currency: 'JPY', kind: 'BET' };
    const exact = { ...yen, operatorMinor: Number.MAX_SAFE_INTEGER, platformMinor: 0 };
    expect((await post(csvOf([first]))).json['sums']).toContainEqual(exact);
    const absent = { ...yen, platformMinor: 0 };
    expect((await post(csvOf([first, second]))).json['sums']).toContainEqual(absent);
    const { text } = await get(`${PATH}?limit=1`, CSV);
    expect(text).toContain(JSON.stringify(absent).replaceAll('"', '""'));
  });

  test('is listed, newest first, with those of its operator', async () => {
    const { json: newest } = await post(csvOf(statement));
    const { found, ...item } = newest;
    expect(found).toEqual([]);
    const { json } = await get(`${PATH}?operatorId=${OPERATOR}&limit=1`);
    expect(json).toMatchObject({ items: [item], nextCursor: expect.any(String) });
    expect((await get(`${PATH}?operatorId=nobody`)).json).toEqual({ items: [] });
    const { text } = await get(PATH, CSV);
    expect(text.split('\r\n')[0]).toMatch(/^reconciliationId,operatorId,from,to,lines,matched,findings,/);
    expect(text).toContain(String(newest['reconciliationId']));
  });

  test('is not found if it does not exist, and refuses a cursor of another list', async () => {
    const none = '00000000-0000-4000-8000-000000000000';
    expect((await world.admin('GET', `${PATH}/${none}`)).status).toBe(404);
    expect((await world.admin('GET', `${PATH}/${none}/findings`)).status).toBe(404);
    const { json } = await post(csvOf(statement));
    const cursor = Buffer.from('x1').toString('base64url');
    const path = `${PATH}/${String(json['reconciliationId'])}/findings?cursor=${cursor}`;
    expect(await world.admin('GET', path)).toMatchObject({ status: 400 });
  });

  test('is kept for the newest hundred of an operator', async () => {
    await world.sql.run(
      `INSERT INTO reconciliations (reconciliation_id, operator_id, range_from, range_to, lines, matched, findings,
                                    findings_stored, sums, created_at, created_by)
       SELECT gen_random_uuid(), $1, '2020-01-01', '2020-01-02', 0, 0, '{}', 0, '[]', '2020-01-02', 'root'
         FROM generate_series(1, 100)`,
      [OPERATOR],
    );
    await post(csvOf(statement));
    expect(await countStored()).toBe(100);
    await world.sql.run(`DELETE FROM reconciliations WHERE created_at < '2021-01-01'`, []);
  });
});

const record = async (lines: readonly Line[], parameters: Record<string, string> = {}) =>
  (await post(csvOf(lines), { record: 'true', ...parameters })).json['recorded'];

test('record adds the findings to the attention queue, once, and closes the items of those that are gone', async () => {
  expect(await record(statement.slice(1))).toEqual({ opened: 1, closed: 0 });
  expect(await record(statement.slice(1))).toEqual({ opened: 0, closed: 0 });
  const { json } = await get('/v1/admin/attention?kind=reconciliation');
  const subject = `${OPERATOR}/spinwell/${statement[0]!.transactionId}/missing-at-operator`;
  expect(json['items']).toMatchObject([{ subject, state: 'OPEN' }]);
  expect(await record(statement)).toEqual({ opened: 0, closed: 1 });
});

test('the item of an amount that differs has both amounts', async () => {
  const [bet, ...others] = statement as [Line, ...Line[]];
  expect(await record([{ ...bet, amountMinor: '350' }, ...others])).toEqual({ opened: 1, closed: 0 });
  const { json } = await get('/v1/admin/attention?kind=reconciliation&state=OPEN');
  const amounts = '3.50 EUR at the operator, 1.00 EUR on the platform';
  const summary = `amount-differs: BET spinwell/${bet.transactionId}: amountMinor differs: ${amounts}`;
  expect(json['items']).toMatchObject([{ summary }]);
  expect(await record(statement)).toEqual({ opened: 0, closed: 1 });
});

test('record accepts a range at the limits of the format', async () => {
  const range = { from: '0100-01-01T00:00+23:59', to: '9999-12-31T23:59-23:59' };
  expect(await record(statement.slice(1), range)).toEqual({ opened: 1, closed: 0 });
  expect(await record(statement, range)).toEqual({ opened: 0, closed: 1 });
});

test('the item of a finding leads to its transaction if the platform has it', async () => {
  const known = statement[0]!;
  const unknown = { ...known, transactionId: 'unknown' };
  const untimed = { ...known, transactionId: 'untimed', bookedAt: '2026-01-31T00:00:00' };
  expect(await record([...statement, known, unknown, unknown, untimed])).toEqual({ opened: 4, closed: 0 });
  const { json } = await get('/v1/admin/attention?kind=reconciliation&state=OPEN');
  const items = (json['items'] as { subject: string; href?: string }[]).map(({ subject, href }) => [
    subject,
    href,
  ]);
  const href = `/v1/admin/transactions/spinwell/${known.transactionId}`;
  expect(Object.fromEntries(items)).toEqual({
    [`${OPERATOR}/spinwell/${known.transactionId}/duplicate-line`]: href,
    [`${OPERATOR}/spinwell/unknown/missing-at-platform`]: undefined,
    [`${OPERATOR}/spinwell/unknown/duplicate-line`]: undefined,
    [`${OPERATOR}/spinwell/untimed/ambiguous-time`]: undefined,
  });
  expect((await get(href)).status).toBe(200);
  expect(await record(statement)).toEqual({ opened: 0, closed: 4 });
});

test('record closes no item of another operator, nor of a range that is not contained in the new one', async () => {
  expect(await record(statement.slice(1))).toEqual({ opened: 1, closed: 0 });
  const nothing = { opened: 0, closed: 0 };
  expect(await record([], { operatorId: OTHER_OPERATOR })).toEqual(nothing);
  expect(await record([], { to: '2000-01-02T00:00:00Z' })).toEqual(nothing);
  expect(await record([], { from: '2999-01-01T00:00:00Z' })).toEqual(nothing);
  expect(await record(statement)).toEqual({ opened: 0, closed: 1 });
});

test('a reconciliation and its reads are in the audit log', async () => {
  const { json } = await post(csvOf(statement), {}, { 'X-Request-Id': 'a-reconciliation' });
  const subject = `reconciliation:${String(json['reconciliationId'])}`;
  await get(`${PATH}/${String(json['reconciliationId'])}`);
  await get(`${PATH}/${String(json['reconciliationId'])}/findings`);
  const { json: log } = await get(`/v1/admin/audit?target=${subject}`);
  const actions = (log['items'] as { action: string }[]).map(({ action }) => action);
  expect(actions).toEqual(['reconciliation.findings', 'reconciliation.read', 'reconciliation.run']);
});

test('only operations may reconcile; support may read', async () => {
  const support = bearer((await world.administrator('support')).key);
  const stored = await countStored();
  const refused = await post(csvOf(statement), {}, support);
  expect(refused).toMatchObject({ status: 403, json: { error: 'this needs the role operations' } });
  expect(refused.headers.get('connection')).toBe('close');
  expect(await countStored()).toBe(stored);
  expect((await get(PATH, support)).status).toBe(200);
});

test.each([
  ['a line that is cut off', `${HEADER}\nspinwell,half`, 'line 2, column 10: '],
  ['another header', 'a,b,c\n', 'line 1, column 1: the header must be exactly '],
  [
    'a wrong amount',
    `${HEADER}\nspinwell,b1,BET,,p,EUR,1.5,APPROVED,2026-01-01\n`,
    'line 2, column 24: amountMinor ',
  ],
  ['semicolons', HEADER.replaceAll(',', ';'), 'line 1, column 11: the fields are separated by semicolons'],
  ['no bytes', '', 'line 1, column 1: the file is empty'],
])('a statement with %s is refused with its line and column', async (_, body, words) => {
  const stored = await countStored();
  const { status, headers, json } = await post(body);
  expect({ status, code: headers.get('x-error-code') }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
  expect(json['error']).toContain(words);
  expect(await countStored()).toBe(stored);
});

test('a long statement with an early mistake is refused after it has been sent', async () => {
  const body = `${HEADER}\nspinwell,half\n${'x'.repeat(4_000_000)}`;
  const { status, json } = await post(body);
  expect(status).toBe(400);
  expect(json['error']).toContain('line 2, column 10: ');
});

test('a statement of more than a thousand currencies is refused', async () => {
  const lines = Array.from({ length: 1001 }, (_, n) => ({
    ...statement[0]!,
    transactionId: `none-${n}`,
    currency: `c${n}`,
  }));
  const { status, json } = await post(csvOf(lines));
  expect(status).toBe(400);
  expect(json['error']).toBe('line 1002, column 1: there are more than 1000 pairs of currency and kind');
});

test.each([
  ['JSON', {}, { 'Content-Type': 'application/json' }, 400, 'Content-Type must be text/csv in UTF-8'],
  ['another charset', {}, { 'Content-Type': 'text/csv; charset=utf-16' }, 400, 'Content-Type must be'],
  ['a broken parameter', {}, { 'Content-Type': 'text/csv; header' }, 400, 'Content-Type must be'],
  ['a compressed body', {}, { 'Content-Encoding': 'gzip' }, 415, 'compressed'],
  ['an unknown operator', { operatorId: 'nobody' }, {}, 400, 'operatorId names no operator'],
  ['a provider', { operatorId: 'spinwell' }, {}, 400, 'operatorId names no operator'],
  ['an empty range', { to: RANGE.from }, {}, 400, 'to must be later than from'],
  ['a time without zone', { from: '2026-01-01T00:00' }, {}, 400, 'from must be'],
  ['a wrong record', { record: 'yes' }, {}, 400, 'record must be one of'],
  ['an unknown parameter', { fix: 'true' }, {}, 400, '"fix" is not a known'],
])('%s is refused', async (_, parameters, headers, status, words) => {
  const reply = await post(csvOf(statement), parameters, headers);
  expect(reply.status).toBe(status);
  expect(reply.json['error']).toContain(words);
});

test('a comparison that becomes too long is refused, and stores nothing', async () => {
  const before = await countStored();
  const count = vi.spyOn(ComparisonBounds.prototype, 'count').mockImplementation(() => {
    throw new CroupierError('INVALID_REQUEST', 'too long');
  });
  const reply = await post(csvOf(statement), { record: 'true' });
  count.mockRestore();
  expect([reply.status, reply.json['error']]).toEqual([400, 'too long']);
  expect([await countStored(), await countConnections()]).toEqual([before, 0]);
});

test('a single statement of a comparison that takes too long is cancelled, and the request refused', async () => {
  const before = await countStored();
  const remaining = vi.spyOn(ComparisonBounds.prototype, 'remainingMs').mockReturnValueOnce(50);
  remaining.mockImplementation(() => {
    throw new CroupierError('INVALID_REQUEST', 'too long');
  });
  const locker = new Client({ connectionString: world.databaseUrl });
  await locker.connect();
  await locker.query('BEGIN; LOCK TABLE transactions IN ACCESS EXCLUSIVE MODE');
  const reply = await post(csvOf(statement), { record: 'true' });
  await locker.end();
  remaining.mockRestore();
  expect([reply.status, reply.json['error']]).toEqual([400, 'too long']);
  expect([await countStored(), await countConnections()]).toEqual([before, 0]);
});

test('a charset and the header parameter of CSV are accepted', async () => {
  const reply = await post(
    csvOf(statement),
    {},
    { 'Content-Type': 'text/csv; charset=UTF-8; header=present' },
  );
  expect(reply.status).toBe(201);
});

test('more than 64 MiB are refused at once, before a byte of the body', async () => {
  const length = `Content-Length: ${64 * 1024 * 1024 + 1}`;
  const socket = await beginUpload(world.url, [length, 'Expect: 100-continue']);
  const answer = await answerOn(socket);
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*X-Error-Code: PAYLOAD_TOO_LARGE/i);
});

test('the client is told to continue only when its statement is read', async () => {
  const csv = csvOf(statement);
  const socket = await beginUpload(world.url, [`Content-Length: ${csv.length}`, 'Expect: 100-continue']);
  expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 100 /);
  socket.write(csv);
  expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 201 /);
  socket.destroy();
});

test('one reconciliation at a time on an instance, also if its upload is broken off; others run elsewhere', async () => {
  const csv = csvOf(statement);
  const stored = await countStored();
  const socket = await beginUpload(world.url, ['Transfer-Encoding: chunked'], chunkOf(`${HEADER}\n`));
  await until(async () => (await countConnections()) === 1);
  const busy = await post(csv);
  expect(busy.status).toBe(429);
  expect(busy.json).toEqual({ error: 'rate limit exceeded' });
  expect(busy.headers.get('retry-after')).toBe('10');
  expect(busy.headers.get('x-next-action')).toBe('wait-then-retry');
  const other = await world.another(new TestClock());
  try {
    expect((await post(csv, {}, {}, other)).status).toBe(201);
  } finally {
    await other.app.close();
  }
  const before = await countStored();
  expect(before).toBeGreaterThan(stored);
  socket.destroy();
  await until(async () => (await post(csv)).status === 201);
  expect(await countStored()).toBe(before + 1);
  await until(async () => (await countConnections()) === 0);
});

test('one reconciliation of an operator at a time records, over all instances and commands, so that the newest one wins', async () => {
  const headers = ['Transfer-Encoding: chunked', 'Expect: 100-continue'];
  const older = await beginUpload(world.url, headers, '', { record: 'true' });
  // `100 Continue` is sent when the service begins to read the statement, and so holds the lock.
  expect(await answerOn(older)).toMatch(/^HTTP\/1\.1 100 /);
  const other = await world.another(new TestClock());
  const folder = await temporaryFolder();
  try {
    const newer = () => post(csvOf(statement), { record: 'true' }, {}, other);
    const refused = await newer();
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.headers.get('retry-after')).toBe('10');
    const statementPath = join(folder.path, 'march.csv');
    await writeFile(statementPath, csvOf(statement));
    const task = {
      operatorId: OPERATOR,
      from: new Date(RANGE.from),
      to: new Date(RANGE.to),
      databaseUrl: world.databaseUrl,
      statementPath,
      reportPath: join(folder.path, 'findings.csv'),
      record: true,
    };
    const command = reconcile(task, () => undefined, new AbortController().signal);
    await expect(command).rejects.toThrow(`records findings of ${OPERATOR} is under way`);
    expect(await readdir(folder.path)).toEqual(['march.csv']);
    const ofOther = { record: 'true', operatorId: OTHER_OPERATOR };
    expect((await post(csvOf([]), ofOther, {}, other)).status).toBe(201);
    expect((await post(csvOf(statement), {}, {}, other)).status).toBe(201);

    older.write(`${chunkOf(csvOf(statement.slice(1)))}0\r\n\r\n`);
    expect(await answerOn(older)).toMatch(/^HTTP\/1\.1 201 /);
    expect((await newer()).json['recorded']).toEqual({ opened: 0, closed: 1 });
  } finally {
    older.destroy();
    await other.app.close();
    await folder.remove();
  }
});

test('an upload may take longer than other requests', async () => {
  const requestTimeoutMs = 2_000;
  const limits = { requestTimeoutMs, headersTimeoutMs: 2_000, checkEveryMs: 20 };
  const environment = { DATABASE_URL: world.databaseUrl };
  const { app, url } = await startApplication(environment, new TestClock(), undefined, limits);
  try {
    const [head, ...rest] = csvOf(statement).split(/(?<=\n)/);
    const socket = await beginUpload(url, ['Transfer-Encoding: chunked'], chunkOf(head!));
    await sleep(1.5 * requestTimeoutMs);
    socket.write(`${chunkOf(rest.join(''))}0\r\n\r\n`);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 201 /);
    // The connection carries further requests, with their usual time-out.
    const next = `POST /v1/wallet/transaction HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{`;
    socket.write(next);
    expect(await answerOn(socket)).toMatch(/^HTTP\/1\.1 408 /);
    socket.destroy();
  } finally {
    await app.close();
  }
});
