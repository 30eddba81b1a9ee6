import { once } from 'node:events';
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { nodeWarning } from '../../src/runtime/node-version.js';
import { BuiltService } from './built-service.js';
import { PATIENCE, until } from '../world/patience.js';

/** A call can be held for as long as a busy machine needs. The limit of a stop is still ten seconds. */
const PATIENT = { OPERATOR_TIMEOUT_MS: '8000', TRANSACTION_LEASE_SECONDS: '10' };

describe('the service as a process', () => {
  let service: BuiltService;
  beforeAll(async () => {
    service = await BuiltService.create({ ...PATIENT, NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' });
  });
  afterAll(() => service.remove());

  test('in production it warns in one line that its database is the embedded one', async () => {
    await until(async () => service.logged('DATABASE_URL').length > 0);
    const [warning, ...more] = service.logged('DATABASE_URL').map((line) => JSON.parse(line) as object);
    expect(warning).toMatchObject({ level: 40, msg: expect.stringContaining('DATABASE_URL is not set') });
    expect(more).toEqual([]);
  });

  test('in production it warns in one line of a Node without security fixes, and names the line', async () => {
    await until(async () => service.logged('"msg":"started').length > 0);
    const warning = nodeWarning(process.versions.node, new Date());
    const lines = service.logged('security fixes').map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject(warning === undefined ? [] : [{ level: 40, context: 'Node', msg: warning }]);
  });

  test('it logs one line when it has started, and one when it has stopped', async () => {
    const entries = (msg: string) =>
      service
        .logged(`"msg":"${msg}`)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .map(({ time: _, ...entry }) => entry);
    await until(async () => entries('started').length > 0);
    expect(entries('started')).toEqual([
      {
        level: 30,
        context: 'Croupier',
        msg: 'started',
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        address: service.url,
        database: 'embedded',
        redis: 'none',
        migrationsRun: expect.arrayContaining(['Foundation1764000000001']),
      },
    ]);
    await service.end('SIGTERM');
    await until(async () => entries('stopped').length > 0);
    expect(entries('stopped')).toEqual([
      {
        level: 30,
        context: 'Croupier',
        msg: 'stopped',
        signal: 'SIGTERM',
        outcome: 'clean',
        afterMs: expect.any(Number),
      },
    ]);
    await service.start({ REDIS_URL: 'redis://user:redis-password@127.0.0.1:9/2', DATABSE_URL: 'x' }, 503);
    await until(async () => entries('started').length > 0);
    expect(entries('started')).toMatchObject([{ redis: '127.0.0.1:9/2', migrationsRun: [] }]);
    expect(entries('set, but not read')).toMatchObject([
      { level: 40, msg: 'set, but not read, and perhaps misspelt: DATABSE_URL (DATABASE_URL?)' },
    ]);
    await until(async () => entries('Redis').length > 0);
    expect(entries('Redis')).toMatchObject([{ level: 40, detail: expect.stringContaining('ECONNREFUSED') }]);
    expect(service.logged('redis-password')).toEqual([]);
    await service.end('SIGTERM');
    await service.start(PATIENT);
  });

  test.each([
    ['signalled to stop', 'SIGTERM', 0],
    ['signalled repeatedly while it stops', 'SIGTERM', 100],
    ['when its terminal closes', 'SIGHUP', 0],
  ] as const)(
    '%s (%s) while the operator books: the answer still comes, and it ends within ten seconds',
    async (_, signal, forMs) => {
      const body = await service.bet();
      const held = service.wallet.next({ do: 'hold' }, { transactionId: body.transactionId });
      const answer = service.submit(body);
      await held.arrived;
      const ended = service.end(signal, forMs);
      await until(
        async () => (await fetch(`${service.url}/health/live`).catch(() => undefined)) === undefined,
      );
      held.release();
      expect((await answer).json).toMatchObject({ status: 'APPROVED' });
      expect(await ended).toBeLessThan(10_000);
      expect(service.exitCode).toBe(0);
      await until(async () => service.logged(body.transactionId).length === 1);

      await service.start(PATIENT);
      expect((await service.submit(body)).json).toEqual((await answer).json);
    },
  );

  test('on SIGTERM it is not ready at once, and serves until the delay is over', async () => {
    await service.end('SIGTERM');
    await service.start({ SHUTDOWN_DELAY_MS: '5000' });
    const body = await service.bet();
    const ended = service.end('SIGTERM');
    const readiness = await vi.waitFor(async () => {
      const response = await fetch(`${service.url}/health/ready`);
      expect(response.status).toBe(503);
      return response;
    }, PATIENCE);
    expect(await readiness.json()).toMatchObject({ status: 'stopping', checks: { database: 'up' } });
    expect(readiness.headers.get('connection')).toBe('close');
    expect((await service.submit(body)).json).toMatchObject({ status: 'APPROVED' });
    expect(await ended).toBeGreaterThan(5_000);
    expect(service.exitCode).toBe(0);
    await service.start();
  });

  test('on SIGTERM under load every client is asked to close its connection, and none is reset', async () => {
    await service.end('SIGTERM');
    await service.start({ SHUTDOWN_DELAY_MS: '3000' });
    const agent = new Agent({ keepAlive: true });
    const clients = Array.from({ length: 16 }, async () => {
      for (;;) {
        const connection = await connectionAfter(get(`${service.url}/health/live`, { agent }));
        if (connection !== 'keep-alive') return connection;
      }
    });
    void service.end('SIGTERM');
    expect(await Promise.all(clients)).toEqual(Array.from({ length: 16 }, () => 'close'));
    agent.destroy();
    await vi.waitFor(() => expect(service.exitCode).toBe(0), PATIENCE);
    await service.start();
  });

  test('on SIGTERM during the start it leaves no database behind', async () => {
    await service.end('SIGTERM');
    expect(service.databaseRuns()).toBe(false);
    const starting = service.launch();
    await until(async () => service.databaseRuns());
    starting.process.kill('SIGINT');
    await once(starting.process, 'exit');
    expect([starting.process.exitCode, service.databaseRuns()]).toEqual([0, false]);
    await service.start();
  });

  test('the line of a single request is written without further ones', async () => {
    const body = await service.bet();
    await service.submit(body);
    await until(async () => service.logged(body.transactionId).length === 1);
    expect(JSON.parse(service.logged(body.transactionId)[0]!)).toMatchObject({ outcome: '200', kind: 'BET' });
  });

  test('a second process does not open the same folder', async () => {
    const second = service.launch({ PORT: String(service.port + 1) });
    await once(second.process, 'exit');
    expect(second.process.exitCode).toBe(1);
    expect(second.lines.at(-1)).toMatch(/^croupier does not start: DATA_DIR: /);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  });

  test.each([
    ['PORT', 'eighty'],
    ['HOST', 'no host at all'],
    ['DATABASE_URL', 'postgres://127.0.0.1:9/nothing'],
  ])('a wrong %s stops the start with one line that names it', async (name, value) => {
    const environment = { PORT: '0', DATABASE_URL: inject('databaseUrl'), NODE_ENV: 'production' };
    const refused = service.launch({ ...environment, [name]: value });
    await once(refused.process, 'exit');
    expect(refused.process.exitCode).toBe(1);
    // A Node without security fixes is warned about first.
    const lines = refused.lines.filter((line) => !line.includes('"context":"Node"'));
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^croupier does not start: ${name}: `))]);
  });

  test('a taken port stops the start with one line that names it', async () => {
    const refused = service.launch({ DATABASE_URL: inject('databaseUrl') });
    await once(refused.process, 'exit');
    expect(refused.lines.at(-1)).toMatch(/^croupier does not start: PORT: /);
  });
});

/** The Connection header of the answer, or the error code if there is no answer. */
async function connectionAfter(request: ClientRequest): Promise<string | undefined> {
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.headers.connection;
  } catch (error) {
    return (error as { code: string }).code;
  }
}
