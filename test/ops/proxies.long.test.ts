import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { signRequest } from '@croupier/provider-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../engines/postgres-server.js';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { installed } from './installed.js';

const PAGE = readFileSync('docs/proxies.md', 'utf8');
const TENANT = { tenantId: 'spinwell', secret: 'a secret of the tests of proxies, as text' };

/** The settings that docs/proxies.md gives for a proxy, with the ports of this test. */
function settingsOf(language: string, port: number, upstreamPort: number): string {
  const [, settings = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(PAGE) ?? [];
  expect(settings).toContain('3000');
  return settings.replaceAll('8080', String(port)).replaceAll('3000', String(upstreamPort));
}

interface Proxy {
  readonly program: string;
  /** The language of its settings on the page. */
  readonly language: string;
  /** What the program needs around these settings. */
  readonly around?: (settings: string, folder: string) => string;
  readonly start: (file: string, folder: string, port: number) => string[];
}

const APACHE_MODULES = ['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http'];

const PROXIES: readonly Proxy[] = [
  {
    program: 'nginx',
    language: 'nginx',
    around: (settings, folder) =>
      `worker_processes 1;\npid ${folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${settings}}\n`,
    start: (file, folder) => ['-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;'],
  },
  {
    program: 'apache2',
    language: 'apache',
    around: (settings, folder) =>
      [
        `ServerRoot ${folder}`,
        'ServerName localhost',
        `PidFile ${folder}/apache.pid`,
        `DefaultRuntimeDir ${folder}`,
        `ErrorLog ${folder}/error.log`,
        ...APACHE_MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
        `Listen ${/127\.0\.0\.1:\d+/.exec(settings)![0]}`,
        settings,
      ].join('\n'),
    start: (file) => ['-f', file, '-DFOREGROUND'],
  },
  { program: 'haproxy', language: 'haproxy', start: (file) => ['-db', '-f', file] },
  {
    program: 'caddy',
    language: 'caddy',
    around: (settings) => `{\nadmin off\n}\n${settings}`,
    start: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  {
    program: 'varnishd',
    language: 'vcl',
    start: (file, folder, port) => [
      '-F',
      '-f',
      file,
      '-n',
      join(folder, 'varnish'),
      '-a',
      `127.0.0.1:${port}`,
      '-p',
      'http_gzip_support=off',
    ],
  },
];

interface Arrived {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

describe.each(PROXIES.map((proxy) => ({ ...proxy, skipped: !installed(proxy.program) })))(
  '$program with the settings of docs/proxies.md',
  ({ program, language, around = (settings) => settings, start, skipped }) => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let upstream: Server;
    let proxy: ChildProcess;
    let port: number;
    const arrived: Arrived[] = [];

    beforeAll(async () => {
      if (skipped) return;
      folder = await temporaryFolder();
      await chmod(folder.path, 0o755);
      upstream = createServer((incoming, answer) => void respond(incoming).then((body) => answer.end(body)));
      async function respond(incoming: IncomingMessage): Promise<string> {
        const body = await text(incoming);
        const { method = '', url = '', headers } = incoming;
        if (!url.startsWith('/health')) arrived.push({ method, target: url, headers, body });
        if (url.startsWith('/lost')) incoming.socket.destroy();
        return `{"given":${arrived.length}}`;
      }
      await once(upstream.listen(0, '127.0.0.1'), 'listening');
      port = await freePort();
      const file = join(folder.path, 'settings');
      const settings = settingsOf(language, port, (upstream.address() as AddressInfo).port);
      await writeFile(file, around(settings, folder.path));
      proxy = spawn(program, start(file, folder.path, port), {
        stdio: 'ignore',
        env: { PATH: process.env['PATH'], HOME: folder.path },
      });
      await until(async () => (await send('GET', '/health/ready').catch(() => undefined))?.status === 200);
    }, 60_000);

    afterAll(async () => {
      if (skipped) return;
      const stopped = once(proxy, 'exit');
      proxy.kill('SIGTERM');
      await stopped;
      upstream.closeAllConnections();
      upstream.close();
      await folder.remove();
    });

    /** Sends a signed request with exactly this target; fetch would normalise it. */
    async function send(method: string, target: string, body = '', headers: Record<string, string> = {}) {
      const [nonce, now] = [randomUUID(), Date.now() / 1000];
      const signed = signRequest({ ...TENANT, method, path: target, body, nonce, now });
      const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
      const all = { ...signed, ...length, ...headers };
      const call = request({ host: '127.0.0.1', port, method, path: target, headers: all });
      const [answer] = (await once(call.end(body), 'response')) as [IncomingMessage];
      return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
    }

    test.skipIf(skipped).each([
      ['GET', '/v1/operator/free-spins/a%2Fb', ''],
      ['GET', '/v1/operator/free-spins/a%7Eb~c', ''],
      ['GET', '/v1//operator///free-spins', ''],
      ['GET', '/v1/operator/../operator/./free-spins', ''],
      ['GET', '/v1/operator/free-spins?playerRef=a%20b+c%2f&x=%7e&&y', ''],
      ['POST', '/v1/wallet/transaction?', '{"transactionId": "bet-1",\n\t"playerRef":"Zoë"}'],
      ['DELETE', '/v1/admin/keys/%41', ''],
    ])('passes on %s %s as it was signed', async (method, target, body) => {
      const requestId = randomUUID();
      const { status } = await send(method, target, body, {
        'Content-Type': 'application/json',
        'X-Request-Id': requestId,
        'X-Forwarded-For': '198.51.100.66',
      });
      expect(status).toBe(200);
      const last = arrived.at(-1)!;
      expect({ method: last.method, target: last.target, body: last.body }).toEqual({ method, target, body });
      const sent = { 'x-tenant-id': 'spinwell', 'x-request-id': requestId, 'x-forwarded-for': '127.0.0.1' };
      expect(last.headers).toMatchObject(sent);
      const [nonce, now] = [String(last.headers['x-nonce']), Number(last.headers['x-timestamp'])];
      const again = signRequest({ ...TENANT, ...last, path: last.target, nonce, now });
      expect(last.headers['x-signature']).toBe(again['X-Signature']);
    });

    test.skipIf(skipped)('stores no answer', async () => {
      const first = await send('GET', '/v1/operator/sessions');
      const second = await send('GET', '/v1/operator/sessions');
      expect(second.text).not.toBe(first.text);
    });

    test.skipIf(skipped)('sends a POST whose answer is lost only once', async () => {
      // Apache and HAProxy close the caller's connection, too, if they had used the lost one before.
      const answer = await send('POST', '/lost', '{}').catch(() => ({ status: 500 }));
      expect(answer.status).toBeGreaterThanOrEqual(500);
      await send('GET', '/v1/operator/sessions');
      expect(arrived.filter(({ target }) => target === '/lost')).toHaveLength(1);
    });
  },
);
