import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startExpress } from '../examples/express.js';
import { startFastify } from '../examples/fastify.js';
import { startNest } from '../examples/nest.js';
import { startNodeHttp } from '../examples/node-http.js';
import { callbacks, type Running, type Settings } from '../examples/provider.js';
import { CALLBACK_ROUTES, PLAY_ROUTE, signRequest, toFetchHandler } from '../src/index.js';
import { command } from '../../cli/test/support/command.js';

const SETTINGS = { tenantId: 'spinwell', secret: 'the provider’s secret', port: 0 };
const EXAMPLES = [
  ['node:http', startNodeHttp],
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Nest', startNest],
  ['fetch', startFetch],
] as const;

let running: Running | undefined;
beforeEach(() => {
  // The examples log every refused call, and most calls here must be refused.
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await running?.stop();
  running = undefined;
});

/** Serves a handler of standard requests on `node:http`, as Bun, Deno and Hono would. */
async function startFetch(settings: Settings): Promise<Running> {
  const handle = toFetchHandler(callbacks(settings));
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = new Headers(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const init = { method: 'POST', headers, body: Buffer.concat(chunks) };
      void handle(new Request(`http://127.0.0.1${request.url ?? ''}`, init)).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(await answer.text());
      });
    });
  });
  server.listen(settings.port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe.each(EXAMPLES)('the provider on %s', (_, start) => {
  test('is certified, with nothing skipped', async () => {
    running = await start(SETTINGS);
    const args = ['certify', '--webhook-base-url', running.url, '--tenant', 'spinwell'];
    args.push('--slow-ms', '10', '--patience-seconds', '0', '--calls', '20');
    const { status, printed } = await command([...args, '--play-path', PLAY_ROUTE], {
      secret: SETTINGS.secret,
    });
    expect(printed).toContain('The integration is certified.');
    expect(status).toBe(0);
  });

  test('answers requests that are not callbacks, and bodies that are too large, correctly', async () => {
    running = await start(SETTINGS);
    const base = new URL(running.url);
    const elsewhere = await fetch(`${running.url}/v1/game/elsewhere`, { method: 'POST', body: '{}' });
    expect(elsewhere.status).toBe(404);
    const body = JSON.stringify({ text: 'x'.repeat(64 * 1024) });
    const path = base.pathname.replace(/\/$/, '') + CALLBACK_ROUTES.grant;
    const headers = signRequest({
      method: 'POST',
      path,
      body,
      ...SETTINGS,
      nonce: 'nonce-0001',
      now: Date.now() / 1000,
    });
    const large = await fetch(base.origin + path, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body,
    });
    expect(large.status).toBe(413);
    expect(await large.text()).toContain('too large');
  });
});

test('Express parses the bodies of other routes as usual', async () => {
  running = await startExpress(SETTINGS);
  const { origin } = new URL(running.url);
  expect(await (await fetch(origin)).json()).toEqual({ game: 'on' });
});

test('Fastify parses the bodies of other routes as usual', async () => {
  running = await startFastify(SETTINGS);
  const { origin } = new URL(running.url);
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"a":1}' };
  expect(await (await fetch(`${origin}/echo`, init)).json()).toEqual({ a: 1 });
});
