import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Load } from '../engines/load.js';
import { freePort } from '../engines/postgres-server.js';
import { BuiltService } from '../process/built-service.js';
import { createTestDatabase } from '../world/database.js';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { installed } from './installed.js';

/** Rolling restarts of both instances. */
const RESTARTS = 4;

describe.skipIf(!installed('nginx'))('two instances behind nginx, with the configuration of ops/', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let environment: Record<string, string>;
  let first: BuiltService;
  let second: BuiltService;
  let nginx: ChildProcess;
  let url: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await temporaryFolder();
    environment = { DATABASE_URL: database.url, SHUTDOWN_DELAY_MS: '1000' };
    first = await BuiltService.create(environment);
    second = await first.another(environment);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const pidFile = join(folder.path, 'nginx.pid');
    const file = join(folder.path, 'nginx.conf');
    await writeFile(
      file,
      readFileSync('ops/nginx/nginx.conf', 'utf8')
        .replace('10.213.7.11:3000', `127.0.0.1:${first.port}`)
        .replace('10.213.7.12:3000', `127.0.0.1:${second.port}`)
        .replace('listen 8080', `listen 127.0.0.1:${port}`)
        .replace('/tmp/nginx.pid', pidFile),
    );
    nginx = spawn('nginx', ['-c', file, '-e', join(folder.path, 'error.log'), '-g', 'daemon off;'], {
      stdio: 'ignore',
    });
    await until(async () => (await fetch(`${url}/health/ready`).catch(() => undefined))?.status === 200);
  }, 120_000);
  afterAll(async () => {
    const stopped = once(nginx, 'exit');
    nginx.kill('SIGQUIT');
    await stopped;
    await (second as BuiltService | undefined)?.remove();
    await (first as BuiltService | undefined)?.remove();
    await database.drop();
    await folder.remove();
  });

  test('are restarted one after the other under load, and every answer is final or can be retried', async () => {
    const load = new Load([first.behind(url)], 8);
    await load.more(100);
    for (let turn = 0; turn < RESTARTS; turn += 1) {
      const instance = turn % 2 === 0 ? first : second;
      await instance.end('SIGTERM');
      await instance.start(environment);
      await load.more(100);
    }
    await load.stop();
    console.log(`${load.approved} transactions, ${JSON.stringify(Object.fromEntries(load.retryable))}`);
    // nginx may send a request on an idle connection while the instance closes it.
    expect([...load.retryable.keys()].filter((answer) => answer !== '500 retry-same-request')).toEqual([]);
    await load.check(first);
  }, 300_000);

  test('hide the metrics', async () => {
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  });
});

test.skipIf(!installed('nginx'))(
  'nginx refuses the requests of a client beyond the limit, with 429',
  async () => {
    const folder = await temporaryFolder();
    const port = await freePort();
    const file = join(folder.path, 'nginx.conf');
    await writeFile(
      file,
      readFileSync('ops/nginx/nginx.conf', 'utf8')
        .replaceAll(/croupier-\d:3000/g, '127.0.0.1:1')
        .replace('listen 8080', `listen 127.0.0.1:${port}`)
        .replace('/tmp/nginx.pid', join(folder.path, 'nginx.pid'))
        .replace('rate=1000r/s', 'rate=1r/m')
        .replace('burst=2000', 'burst=1'),
    );
    const nginx = spawn('nginx', ['-c', file, '-e', join(folder.path, 'error.log'), '-g', 'daemon off;'], {
      stdio: 'ignore',
    });
    try {
      const call = () => fetch(`http://127.0.0.1:${port}/v1/wallet/balance`, { method: 'POST', body: '{}' });
      let answer: Response | undefined;
      await until(async () => (answer = await call().catch(() => undefined))?.status === 429);
      expect(answer!.headers.get('x-error-code')).toBe('RATE_LIMITED');
      expect(answer!.headers.get('x-next-action')).toBe('wait-then-retry');
      expect(answer!.headers.get('retry-after')).toBe('1');
      expect(await answer!.json()).toEqual({ error: 'rate limit exceeded' });
    } finally {
      const stopped = once(nginx, 'exit');
      nginx.kill('SIGQUIT');
      await stopped;
      await folder.remove();
    }
  },
);
