import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { signRequest } from '@croupier/provider-sdk';
import { OperatorWalletCounterpart } from '../world/operator-wallet.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { groupCommitEnvironment } from '../world/group-commit.js';

const ADMIN_KEY = 'admin-key-of-the-process-tests-01234567';
const SECRETS_KEY = Buffer.alloc(32, 'p').toString('base64');
const LEASE_SECONDS = 2;

/** The built service as a process of its own, with its own embedded database. */
class Service {
  readonly lines: string[] = [];

  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
  ) {}

  static launch(environment: Record<string, string>): { process: ChildProcess; lines: string[] } {
    const lines: string[] = [];
    const child = spawn(process.execPath, ['dist/main.js'], {
      env: {
        ...{ PATH: process.env['PATH'], ADMIN_API_KEY: ADMIN_KEY, SECRETS_KEY },
        ...groupCommitEnvironment(),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => lines.push(line));
    }
    return { process: child, lines };
  }

  static async start(port: number, environment: Record<string, string>): Promise<Service> {
    const launched = Service.launch({ HOST: '127.0.0.1', PORT: String(port), ...environment });
    const url = `http://127.0.0.1:${port}`;
    await until(async () => {
      if (launched.process.exitCode !== null) throw new Error(launched.lines.join('\n'));
      return (await fetch(`${url}/health/ready`).catch(() => undefined))?.status === 200;
    });
    return Object.assign(new Service(launched.process, url), { lines: launched.lines });
  }

  async admin(method: string, path: string, body: object): Promise<Record<string, string>> {
    const headers = { Authorization: `Bearer ${ADMIN_KEY}`, 'Content-Type': 'application/json' };
    const response = await fetch(this.url + path, { method, headers, body: JSON.stringify(body) });
    return (await response.json()) as Record<string, string>;
  }

  async signed(tenantId: string, secret: string, path: string, body: object) {
    const raw = JSON.stringify(body);
    const parts = {
      method: 'POST',
      path,
      body: raw,
      tenantId,
      secret,
      nonce: randomUUID(),
      now: Date.now() / 1000,
    };
    const headers = { 'Content-Type': 'application/json', ...signRequest(parts) };
    const response = await fetch(this.url + path, { method: 'POST', headers, body: raw });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  async end(signal: NodeJS.Signals): Promise<number> {
    const began = performance.now();
    this.process.kill(signal);
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
    return performance.now() - began;
  }
}

/** Waits for a condition; the test's own time-out bounds it. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('the service as a process', () => {
  let wallet: OperatorWalletCounterpart;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service;
  let secrets: { provider: string; operator: string };
  const port = 24_000 + Math.floor(Math.random() * 1000);
  const environment = () => ({
    DATA_DIR: folder.path,
    OUTBOUND_ALLOW_PRIVATE: 'true',
    REQUESTS_PER_SECOND: '100000',
    OPERATOR_TIMEOUT_MS: '1000',
    TRANSACTION_LEASE_SECONDS: String(LEASE_SECONDS),
  });

  beforeAll(async () => {
    wallet = await OperatorWalletCounterpart.start();
    folder = await temporaryFolder();
    service = await Service.start(port, environment());
    const provider = await service.admin('POST', '/v1/admin/providers', {
      ...{ id: 'spinwell', name: 'Spinwell', webhookBaseUrl: 'http://127.0.0.1:9' },
    });
    const operator = await service.admin('POST', '/v1/admin/operators', {
      ...{ id: 'lucky', name: 'Lucky', walletBaseUrl: wallet.baseUrl },
    });
    await service.admin('PUT', '/v1/admin/games/reels', { providerId: 'spinwell', name: 'Reels' });
    secrets = { provider: provider['secret'] ?? '', operator: operator['secret'] ?? '' };
  });
  afterAll(async () => {
    await service.end('SIGTERM');
    await wallet.stop();
    await folder.remove();
  });

  const submit = (body: object) =>
    service.signed('spinwell', secrets.provider, '/v1/wallet/transaction', body);

  async function bet(): Promise<{ transactionId: string } & Record<string, unknown>> {
    const player = { playerRef: `player-${randomUUID()}`, gameId: 'reels', currency: 'EUR' };
    const { json } = await service.signed('lucky', secrets.operator, '/v1/operator/sessions', player);
    const transactionId = `bet-${randomUUID()}`;
    const { sessionToken } = json;
    return { ...player, sessionToken, transactionId, kind: 'BET', amountMinor: 100, roundId: transactionId };
  }

  test('killed while the operator books: after a restart the same request is answered, booked once', async () => {
    const stored = await bet();
    expect((await submit(stored)).json).toMatchObject({ status: 'APPROVED' });
    const body = await bet();
    const held = wallet.next({ do: 'hold', booking: 'on-arrival' }, { transactionId: body.transactionId });
    const lost = submit(body).catch(() => 'the connection broke');
    await held.arrived;
    await service.end('SIGKILL');
    expect(await lost).toBe('the connection broke');
    held.release();

    service = await Service.start(port, environment());
    expect((await submit(stored)).json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
    await until(async () => (await submit(body)).status !== 409);
    expect((await submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
    expect(wallet.booked(body.transactionId)?.movements).toBe(1);
  });

  test('killed amid many: each is booked once, and answered the same ever after', async () => {
    const bodies = await Promise.all(Array.from({ length: 60 }, bet));
    const booked = () => bodies.filter(({ transactionId }) => wallet.booked(transactionId)).length;
    const lost = bodies.map((body) => submit(body).catch(() => undefined));
    await until(async () => booked() >= 20);
    await service.end('SIGKILL');
    const told = await Promise.all(lost);

    service = await Service.start(port, environment());
    const settled = bodies.map(async (body) => {
      await until(async () => (await submit(body)).status === 200);
      return submit(body);
    });
    for (const [index, { json }] of (await Promise.all(settled)).entries()) {
      expect(json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
      // What was told before the end is told still.
      if (told[index]?.status === 200) expect(json).toEqual(told[index].json);
    }
    for (const { transactionId } of bodies) expect(wallet.booked(transactionId)?.movements).toBe(1);
  });

  test('told to stop while the operator books: the answer still comes, and it ends within ten seconds', async () => {
    const body = await bet();
    const held = wallet.next({ do: 'hold' }, { transactionId: body.transactionId });
    const answer = submit(body);
    await held.arrived;
    const ended = service.end('SIGTERM');
    await until(async () => (await fetch(`${service.url}/health/live`).catch(() => undefined)) === undefined);
    held.release();
    expect((await answer).json).toMatchObject({ status: 'APPROVED' });
    expect(await ended).toBeLessThan(10_000);
    expect(service.process.exitCode).toBe(0);

    service = await Service.start(port, environment());
    expect((await submit(body)).json).toEqual((await answer).json);
  });

  test('a second process does not open the same folder', async () => {
    const second = Service.launch({ ...environment(), PORT: String(port + 1) });
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
    const good = { ...environment(), PORT: '0', DATABASE_URL: inject('databaseUrl') };
    const refused = Service.launch({ ...good, [name]: value });
    await once(refused.process, 'exit');
    expect(refused.process.exitCode).toBe(1);
    expect(refused.lines).toEqual([expect.stringMatching(new RegExp(`^croupier does not start: ${name}: `))]);
  });

  test('a taken port stops the start with one line that names it', async () => {
    const taken = { PORT: String(port), HOST: '127.0.0.1', DATABASE_URL: inject('databaseUrl') };
    const refused = Service.launch({ ...environment(), ...taken });
    await once(refused.process, 'exit');
    expect(refused.lines.at(-1)).toMatch(/^croupier does not start: PORT: /);
  });
});
