import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { reportFolder } from './support/certified.js';
import { command } from './support/command.js';

/** A sandbox platform whose every answer is this text; returns the path of its `sandbox.json`. */
async function sandboxAnswering(answer: string): Promise<{ url: string; file: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(await reportFolder(), 'sandbox.json');
  await writeFile(
    file,
    JSON.stringify({ apiUrl: url, adminApiKey: 'k', operator: { id: 'o', secret: 's' } }),
  );
  return { url, file };
}

test.each([
  ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'],
  ['cuts its answer', 'HTTP/1.1 201 Created\r\nContent-Length: 20\r\n\r\n{'],
  ['answers too much', `HTTP/1.1 201 Created\r\nContent-Length: 70000\r\n\r\n"${'x'.repeat(69_998)}"`],
])('a platform that %s does not answer', async (_, answer) => {
  const { url, file } = await sandboxAnswering(answer);
  const { status, complained } = await command(['launch', '--sandbox', file]);
  expect([status, complained]).toEqual([2, expect.stringContaining(`Nothing answers at ${url}`)]);
});

test('a session is shown, and a refusal is quoted', async () => {
  const json = '{"sessionToken":"token-1","expiresAt":"soon","providerId":"me"}';
  const created = await sandboxAnswering(
    `HTTP/1.1 201 Created\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  );
  const { printed } = await command(['launch', '--sandbox', created.file]);
  expect(printed).toContain('sessionToken  token-1');
  const refusing = await sandboxAnswering('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
  const { complained } = await command(['launch', '--sandbox', refusing.file]);
  expect(complained).toContain('The platform answered 403 no');
});

test('a game that is not configured is to be registered', async () => {
  const { file } = await sandboxAnswering('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno');
  const { status, complained } = await command(['launch', '--game', 'nosuch', '--sandbox', file]);
  expect([status, complained]).toEqual([
    2,
    expect.stringContaining(
      'The platform answered 503 no. If there is no game nosuch, create it with register --game',
    ),
  ]);
});

test('register takes no game from another provider', async () => {
  const json = '{"gameId":"my-game","providerId":"rival"}';
  const { file } = await sandboxAnswering(`HTTP/1.1 200 OK\r\nContent-Length: ${json.length}\r\n\r\n${json}`);
  const { status, complained } = await command([
    'register',
    '--webhook-base-url',
    'http://127.0.0.1:4000',
    '--sandbox',
    file,
  ]);
  expect([status, complained]).toEqual([
    2,
    expect.stringContaining('The game my-game belongs to rival: choose another with --game.'),
  ]);
});

test.each([
  { game: 'exists', found: 200, puts: 0 },
  { game: 'does not exist', found: 404, puts: 1 },
])('register sends $puts PUT of a game that $game, because it replaces the whole game', async (each) => {
  const statuses: Record<string, number> = { GET: each.found, POST: 409, PATCH: 200, PUT: 201 };
  const calls: string[] = [];
  const server = createHttpServer(({ method = '', url }, response) => {
    calls.push(`${method} ${url}`);
    response.writeHead(statuses[method] ?? 500).end('{"gameId":"my-game","providerId":"my-provider"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const file = join(await reportFolder(), 'sandbox.json');
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(file, JSON.stringify({ apiUrl, adminApiKey: 'k', operator: { id: 'o', secret: 's' } }));
  const address = ['--webhook-base-url', 'http://127.0.0.1:4000'];
  const { status } = await command(['register', ...address, '--sandbox', file]);
  expect(status).toBe(0);
  expect(calls).toContain('PATCH /v1/admin/providers/my-provider');
  expect(calls.filter((call) => call.startsWith('PUT'))).toHaveLength(each.puts);
});

test('why nothing answers is said', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const file = join(await reportFolder(), 'sandbox.json');
  const apiUrl = `http://127.0.0.1:${port}`;
  await writeFile(file, JSON.stringify({ apiUrl, adminApiKey: 'k', operator: { id: 'o', secret: 's' } }));
  const { status, complained } = await command(['launch', '--sandbox', file]);
  expect([status, complained]).toEqual([2, expect.stringContaining(`ECONNREFUSED 127.0.0.1:${port}`)]);
});

test.each<[string, (file: string) => Promise<unknown>, string]>([
  ['is missing', () => Promise.resolve(), 'There is no sandbox in'],
  ['cannot be read', (file) => mkdir(file), 'cannot be read: EISDIR'],
  ['is not JSON', (file) => writeFile(file, 'my secret'), 'is not JSON'],
  ['is null', (file) => writeFile(file, 'null'), 'has no apiUrl'],
  ['lacks a field', (file) => writeFile(file, '{"apiUrl":"http://a","adminApiKey":"k"}'), 'no operator.id'],
])('a sandbox.json that %s is refused', async (_, create, sentence) => {
  const file = join(await reportFolder(), 'sandbox.json');
  await create(file);
  const { status, complained } = await command(['launch', '--sandbox', file]);
  expect([status, complained]).toEqual([2, expect.stringContaining(sentence)]);
  expect(complained).not.toContain('my secret');
});
