import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findEmbeddedPostgres } from '../src/embedded-postgres/embedded-postgres.js';
import { Counterparts } from './processes/counterparts.process.js';
import { freePort, until } from './processes/child.js';
import { Instance, SHUTDOWN_DELAY_MS } from './processes/instance.js';
import { Link } from './processes/link.js';
import { ADDRESSES, hostOf, type Name, Names, type Place } from './processes/names.js';
import { Postgres } from './processes/postgres.js';
import { Redis } from './processes/redis.js';
import { Site } from './processes/site.js';
import { Stranger } from './processes/stranger.js';
import type { LinkKind, Plan } from './plan.js';

export const WALLET_TIMEOUT_MS = 1000;
export const LEASE_SECONDS = 3;
export const CALLBACK_TIMEOUT_MS = 2000;
/** Time after which every instance knows a new tenant, in milliseconds. */
const CONFIGURATION_MS = 1500;
export const ADMIN_KEY = 'admin-key-of-the-chaos-runs-0123456789abcdef';
const SECRETS_KEY = Buffer.alloc(32, 'chaos').toString('base64');

export const PROVIDERS = ['spinwell', 'reelworks'] as const;
export const OPERATORS = ['lucky', 'royal'] as const;
export type ProviderId = (typeof PROVIDERS)[number];
export type OperatorId = (typeof OPERATORS)[number];
export const gameOf = (provider: ProviderId) => `${provider}-reels`;

export interface Binaries {
  readonly postgres: string;
  readonly redis: string;
}

/** All parts of a run. The caller that starts it also stops it. */
export class World {
  readonly secrets = new Map<string, string>();
  readonly instances: Instance[] = [];
  private readonly clientLinks: Link[] = [];
  private readonly redisLinks: Link[] = [];
  /** One site for all wallets and webhooks, and one for each instance's connections to the database. */
  private readonly sites: Readonly<Record<Name, Site[]>> = { wallet: [], database: [] };

  private constructor(
    /** Its processes' files, removed at the end. */
    readonly folder: string,
    readonly counterparts: Counterparts,
    readonly postgres: Postgres | undefined,
    readonly redis: Redis | undefined,
    private readonly stranger: Stranger,
    readonly names: Names,
  ) {}

  /**
   * @param binaries the programs of PostgreSQL and Redis; without them the instance uses the embedded database
   * @param results the folder for the instances' logs
   */
  static async start(plan: Plan, binaries: Binaries | undefined, results: string): Promise<World> {
    const folder = await mkdtemp(join('/tmp', 'croupier-chaos-'));
    await chmod(folder, 0o711);
    const counterparts = await Counterparts.start();
    const postgres = binaries && (await Postgres.start(binaries.postgres, join(folder, 'postgres')));
    const redis = binaries && (await Redis.start(binaries.redis, folder));
    const stranger = await Stranger.start();
    const names = new Names(join(folder, 'names.json'));
    const world = new World(folder, counterparts, postgres, redis, stranger, names);
    try {
      await world.open(plan, results);
    } catch (error) {
      await world.stop();
      throw error;
    }
    return world;
  }

  /** The URL of the database itself, without the link whose connections the faults cut. */
  async databaseUrl(): Promise<string> {
    if (this.postgres) return this.postgres.url;
    const found = await findEmbeddedPostgres(join(this.folder, 'data'));
    if (typeof found === 'string') throw new Error(`the embedded database: ${found}`);
    return found.url;
  }

  /** The environment of the commands that run beside the service. */
  async environment(): Promise<NodeJS.ProcessEnv> {
    return { PATH: process.env['PATH'], DATABASE_URL: await this.databaseUrl(), SECRETS_KEY };
  }

  /** The port at which a client reaches an instance. */
  clientPort(instance: number): number {
    return this.clientLinks[instance]!.port;
  }

  link(kind: LinkKind, instance: number): Link {
    if (kind === 'wallet') return this.sites.wallet[0]!.at('home');
    if (kind === 'database') return this.sites.database[instance]!.at('home');
    return { client: this.clientLinks, redis: this.redisLinks }[kind][instance]!;
  }

  links(): Link[] {
    const sites = Object.values(this.sites).flat();
    return [...this.clientLinks, ...this.redisLinks, ...sites.flatMap((site) => site.all())];
  }

  /** The links at one address of a name. */
  linksTo(name: Name, place: Place): Link[] {
    return this.sites[name].map((site) => site.at(place));
  }

  /**
   * Lets a name lead to an address, and cuts the connections to the others.
   * @param place undefined if the name does not resolve
   */
  lead(name: Name, place: Place | undefined): void {
    this.names.lead(name, place);
    for (const site of this.sites[name]) site.lead(place);
  }

  /** The number of connections on which a statement waits for PostgreSQL's answer. */
  get statementsUnderWay(): number {
    return this.linksTo('database', 'home').reduce((sum, link) => sum + link.awaiting, 0);
  }

  async ready(instance: number): Promise<boolean> {
    const url = `http://127.0.0.1:${this.instances[instance]!.port}/health/ready`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status === 200;
  }

  async admin(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const url = `http://127.0.0.1:${this.clientPort(0)}${path}`;
    const headers = { Authorization: `Bearer ${ADMIN_KEY}`, 'Content-Type': 'application/json' };
    const answer = await fetch(url, {
      method,
      headers,
      signal: AbortSignal.timeout(10_000),
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  }

  async stop(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.terminate()));
    this.counterparts.stop();
    await this.redis?.end('SIGKILL');
    await this.postgres?.stop();
    this.stranger.stop();
    for (const link of this.links()) link.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async open(plan: Plan, results: string): Promise<void> {
    const { postgres, redis } = this;
    const wallet = () => this.counterparts.address;
    this.sites.wallet.push(await Site.open('wallet', wallet, () => this.stranger.address));
    await mkdir(join(this.folder, 'data'), { mode: 0o755 });
    for (const [number, clockSeconds] of plan.clockSeconds.entries()) {
      const port = await freePort();
      this.clientLinks.push(await Link.open(`client-${number}`, () => ({ host: '127.0.0.1', port })));
      const environment: Record<string, string> = { ...SERVICE, CHAOS_NAMES: this.names.file };
      if (postgres) {
        const primary = () => postgres.address;
        const site = await Site.open(`database-${number}`, primary, () => postgres.standby);
        this.sites.database.push(site);
        const host = `${hostOf('database')}:${site.at('home').port}`;
        environment['DATABASE_URL'] = `postgres://postgres@${host}/croupier`;
      } else {
        environment['DATA_DIR'] = join(this.folder, 'data');
      }
      if (redis) {
        const link = await Link.open(`redis-${number}`, () => redis.address);
        this.redisLinks.push(link);
        environment['REDIS_URL'] = `redis://127.0.0.1:${link.port}`;
      }
      const instance = new Instance(number, port, environment, results, clockSeconds);
      this.instances.push(instance);
      instance.start();
      await until(`instance ${number} is ready`, 90, () => {
        if (!instance.running) throw new Error(`instance ${number} has ended: ${instance.log}`);
        return this.ready(number);
      });
    }
    await this.register();
    await sleep(CONFIGURATION_MS);
  }

  private async register(): Promise<void> {
    const { port } = this.link('wallet', 0);
    const base = (host: string, id: string) => `http://${host}:${port}/${id}`;
    for (const id of PROVIDERS) {
      await this.create('/v1/admin/providers', { id, name: id, webhookBaseUrl: base(ADDRESSES.home, id) });
      await this.admin('PUT', `/v1/admin/games/${gameOf(id)}`, { providerId: id, name: id });
    }
    for (const id of OPERATORS) {
      const walletBaseUrl = base(hostOf('wallet'), id);
      await this.create('/v1/admin/operators', { id, name: id, walletBaseUrl });
    }
  }

  private async create(
    path: string,
    tenant: { id: string; name: string } & Record<string, string>,
  ): Promise<void> {
    const { status, json } = await this.admin('POST', path, tenant);
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
    this.secrets.set(tenant.id, String(json['secret']));
  }
}

const SERVICE = {
  ADMIN_API_KEY: ADMIN_KEY,
  SECRETS_KEY,
  OUTBOUND_ALLOW_PRIVATE: 'true',
  REQUESTS_PER_SECOND: '1000000',
  OPERATOR_TIMEOUT_MS: String(WALLET_TIMEOUT_MS),
  CALLBACK_TIMEOUT_MS: String(CALLBACK_TIMEOUT_MS),
  TRANSACTION_LEASE_SECONDS: String(LEASE_SECONDS),
  SHUTDOWN_DELAY_MS: String(SHUTDOWN_DELAY_MS),
  MAX_CONNECTIONS_PER_ADDRESS: '10000',
  LOG_LEVEL: 'warn',
};
