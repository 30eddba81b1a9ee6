import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { signRequest } from '@croupier/provider-sdk';
import { findEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { readPidFile } from '../../src/embedded-postgres/postmaster.js';
import { groupCommitEnvironment } from '../world/group-commit.js';
import { OperatorWalletCounterpart } from '../world/operator-wallet.js';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { launch, type Launched, ownPort } from './launch.js';

const ADMIN_KEY = 'admin-key-of-the-process-tests-01234567';
const SECRETS_KEY = Buffer.alloc(32, 'process').toString('base64');
const LEASE_SECONDS = 2;

export interface SignedReply {
  readonly status: number;
  readonly nextAction: string | null;
  readonly json: Record<string, unknown>;
}

/** The built service as a process, with its own embedded database and a recording wallet. */
export class BuiltService {
  readonly port = ownPort();
  readonly url = `http://127.0.0.1:${this.port}`;
  private running!: Launched;

  private constructor(
    readonly wallet: OperatorWalletCounterpart,
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    private readonly secrets: Map<string, string>,
    private readonly main: string | undefined,
  ) {}

  /**
   * @param environment the environment of the first start
   * @param main its entry point, if it is not the one that is built here
   */
  static async create(environment: Record<string, string> = {}, main?: string): Promise<BuiltService> {
    const wallet = await OperatorWalletCounterpart.start();
    const service = new BuiltService(wallet, await temporaryFolder(), new Map(), main);
    await service.start(environment);
    await service.register('providers', { id: 'spinwell', webhookBaseUrl: 'http://127.0.0.1:9' });
    await service.register('operators', { id: 'lucky', walletBaseUrl: service.wallet.baseUrl });
    await service.admin('PUT', '/v1/admin/games/reels', { providerId: 'spinwell', name: 'Reels' });
    return service;
  }

  /** Another instance of the built service with the same tenants; the environment names the database of both. */
  async another(environment: Record<string, string>): Promise<BuiltService> {
    const service = new BuiltService(this.wallet, await temporaryFolder(), this.secrets, undefined);
    await service.start(environment);
    return service;
  }

  /** The same service, called at the address of a load balancer. */
  behind(url: string): BuiltService {
    return Object.create(this, { url: { value: url } }) as BuiltService;
  }

  get exitCode(): number | null {
    return this.running.process.exitCode;
  }

  /** The lines of its log that contain the word. */
  logged(word: string): string[] {
    return this.running.lines.filter((line) => line.includes(word));
  }

  /** Another process on the same folder, unless the environment says otherwise. */
  launch(environment: Record<string, string> = {}): Launched {
    return launch(
      {
        ADMIN_API_KEY: ADMIN_KEY,
        SECRETS_KEY,
        HOST: '127.0.0.1',
        PORT: String(this.port),
        DATA_DIR: this.folder.path,
        OUTBOUND_ALLOW_PRIVATE: 'true',
        REQUESTS_PER_SECOND: '100000',
        OPERATOR_TIMEOUT_MS: '1000',
        TRANSACTION_LEASE_SECONDS: String(LEASE_SECONDS),
        ...groupCommitEnvironment(),
        ...environment,
      },
      'pipe',
      this.main,
    );
  }

  /** Whether its database runs, or has left its pid file behind. */
  databaseRuns(): boolean {
    return existsSync(join(this.folder.path, 'postgresql/data/postmaster.pid'));
  }

  /** Its database, which runs. */
  async database(): Promise<{ url: string; pid: number }> {
    const found = await findEmbeddedPostgres(this.folder.path);
    const file = await readPidFile({ folder: join(await realpath(this.folder.path), 'postgresql/data') });
    if (typeof found === 'string' || !file) throw new Error('the database does not run');
    return { url: found.url, pid: file.pid };
  }

  /** Closes the reading ends of its standard output and standard error. */
  closeOutput(): void {
    this.running.process.stdout?.destroy();
    this.running.process.stderr?.destroy();
  }

  /**
   * Starts it, also again after it has exited.
   * @param readiness the status of `/health/ready` to wait for
   */
  async start(environment: Record<string, string> = {}, readiness = 200): Promise<void> {
    this.running = this.launch(environment);
    await until(async () => {
      if (this.exitCode !== null) throw new Error(this.running.lines.join('\n'));
      return (await fetch(`${this.url}/health/ready`).catch(() => undefined))?.status === readiness;
    });
  }

  /**
   * @param forMs how long the signal is repeated without a pause, in milliseconds
   * @returns how long it took to end, in milliseconds
   */
  async end(signal: NodeJS.Signals, forMs = 0): Promise<number> {
    const began = performance.now();
    const { process } = this.running;
    do process.kill(signal);
    while (performance.now() - began < forMs);
    if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
    return performance.now() - began;
  }

  async remove(): Promise<void> {
    await this.end('SIGTERM');
    await this.wallet.stop();
    await this.folder.remove();
  }

  /** The body of a fresh player's BET. */
  async bet(): Promise<{ transactionId: string } & Record<string, unknown>> {
    const player = { playerRef: `player-${randomUUID()}`, gameId: 'reels', currency: 'EUR' };
    const { json } = await this.signed('lucky', '/v1/operator/sessions', player);
    const transactionId = `bet-${randomUUID()}`;
    const { sessionToken } = json;
    return { ...player, sessionToken, transactionId, kind: 'BET', amountMinor: 100, roundId: transactionId };
  }

  submit(body: object) {
    return this.signed('spinwell', '/v1/wallet/transaction', body);
  }

  private async register(tenants: string, tenant: { id: string } & Record<string, string>): Promise<void> {
    const { secret } = await this.admin('POST', `/v1/admin/${tenants}`, { ...tenant, name: tenant.id });
    this.secrets.set(tenant.id, secret ?? '');
  }

  /** Changes a resource by the admin API. */
  change(path: string, body: object): Promise<Response> {
    return this.asAdmin('PATCH', path, body);
  }

  private asAdmin(method: string, path: string, body: object): Promise<Response> {
    const headers = { Authorization: `Bearer ${ADMIN_KEY}`, 'Content-Type': 'application/json' };
    return fetch(this.url + path, { method, headers, body: JSON.stringify(body) });
  }

  private async admin(method: string, path: string, body: object): Promise<Record<string, string>> {
    return (await (await this.asAdmin(method, path, body)).json()) as Record<string, string>;
  }

  async signed(tenantId: string, path: string, content: object): Promise<SignedReply> {
    const body = JSON.stringify(content);
    const secret = this.secrets.get(tenantId) ?? '';
    const call = { method: 'POST', path, body, tenantId, secret };
    const signature = signRequest({ ...call, nonce: randomUUID(), now: Date.now() / 1000 });
    const headers = { 'Content-Type': 'application/json', ...signature };
    const response = await fetch(this.url + path, { method: 'POST', headers, body });
    const json = (await response.json()) as Record<string, unknown>;
    return { status: response.status, nextAction: response.headers.get('x-next-action'), json };
  }
}
