import { signatureOf } from '@croupier/provider-sdk';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DestinationStream } from 'pino';
import { beforeAll, inject } from 'vitest';
import { AppModule } from '../../src/app.module.js';
import { type Configuration, readConfiguration } from '../../src/config/configuration.js';
import type { Environment } from '../../src/config/variable-reader.js';
import { GroupCommit } from '../../src/database/group-commit.js';
import { APPLICATION_OPTIONS, setUp } from '../../src/server/application.js';
import { CroupierExpressAdapter } from '../../src/server/express-adapter.js';
import type { ServerLimits } from '../../src/server/server-limits.js';
import { LogDestination, ServiceLogger } from '../../src/observability/logging.js';
import { Metrics } from '../../src/observability/metrics.js';
import { Clock } from '../../src/runtime/clock.js';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { ApiDocument, type OpenApi } from '../docs/document.js';
import { createMigratedDatabase } from './database.js';
import { FreshClaims } from '../../src/wallet/fresh-claim.store.js';
import { freshClaimsEnabled } from './fresh-claims.js';
import { AlwaysBatched, groupCommitEnvironment, groupCommitMode } from './group-commit.js';
import { OperatorWalletCounterpart } from './operator-wallet.js';
import { ProviderCounterpart } from './provider.js';
import { SqlConsole } from './sql-console.js';
import { TestClock } from './test-clock.js';

export const ADMIN_KEY = 'admin-key-of-the-test-world-0123456789';
export const PROVIDER = 'spinwell';
export const OTHER_PROVIDER = 'reelhouse';
export const OPERATOR = 'lucky-casino';
export const OTHER_OPERATOR = 'grand-casino';
export const GAME = 'golden-reels';
export const OTHER_GAME = 'night-roulette';
/** A game of the other provider. */
export const FOREIGN_GAME = 'reelhouse-keno';

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi/croupier.json');

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the body; empty if it is not a JSON object. */
  readonly json: Record<string, unknown>;
}

/** An administrator with a key of their own. */
export interface Administrator {
  /** The id of the key. */
  readonly id: string;
  readonly key: string;
  /** How the audit log names them. */
  readonly actor: string;
  readonly call: World['admin'];
}

export interface LaunchedSession {
  readonly sessionToken: string;
  readonly sessionId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
}

export interface SignedOptions {
  readonly method?: string;
  readonly tenantId?: string;
  readonly secret?: string;
  readonly nonce?: string;
  /** Unix time in seconds. */
  readonly timestamp?: number;
  readonly headers?: Record<string, string>;
}

/** The headers of a request for a list as CSV. */
export const CSV = { Accept: 'text/csv' };

export const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

/** The real application on a real database, between a recording wallet and a recording provider. */
export class World {
  readonly secrets = new Map<string, string>();

  constructor(
    readonly app: INestApplication,
    readonly url: string,
    readonly databaseUrl: string,
    readonly clock: TestClock,
    readonly wallet: OperatorWalletCounterpart,
    readonly provider: ProviderCounterpart,
    readonly sql: SqlConsole,
    private readonly dropDatabase: () => Promise<void>,
  ) {}

  async stop(): Promise<void> {
    await this.app.close();
    await this.wallet.stop();
    await this.provider.stop();
    await this.sql.close();
    await this.dropDatabase();
  }

  /** Another instance on the same database and between the same counterparts; `app.close()` stops it. */
  async another(clock: TestClock, environment: Environment = {}, logs?: DestinationStream): Promise<World> {
    const shared = { DATABASE_URL: this.databaseUrl, ...environment };
    const { app, url } = await startApplication(shared, clock, logs);
    const { databaseUrl, wallet, provider, sql } = this;
    const world = new World(app, url, databaseUrl, clock, wallet, provider, sql, async () => undefined);
    for (const [id, secret] of this.secrets) world.secrets.set(id, secret);
    return world;
  }

  /** Moves the clock and has the directory of tenants confirmed at the new time. */
  async advance(seconds: number): Promise<void> {
    this.clock.advance(seconds);
    await this.app.get(TenancyService).reload();
  }

  async request(path: string, init: RequestInit = {}): Promise<Reply> {
    const response = await fetch(this.url + path, init);
    const text = await response.text();
    const reply = { status: response.status, headers: response.headers, text, json: jsonOf(text) };
    this.holdAgainstDocument(init.method ?? 'GET', path, reply);
    return reply;
  }

  /** @throws Error if the answer of an operation differs from its document, so that every test checks this, too */
  private holdAgainstDocument(method: string, path: string, reply: Reply): void {
    if (!path.startsWith('/v1/')) return;
    const document = exportedDocument();
    const entry = document.match(method, path);
    const complaints = entry ? document.complaints(entry, reply) : [];
    if (complaints.length > 0) throw new Error(complaints.join('; '));
  }

  /** The current metrics; those of /metrics may be a second old. */
  metrics(): Promise<string> {
    return this.app.get(Metrics).text();
  }

  /** A call with the root key, unless the headers name another; an object is sent as JSON, a text or bytes as they are. */
  admin(
    method: string,
    path: string,
    body?: object | string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    return this.request(path, {
      method,
      headers: { ...bearer(ADMIN_KEY), ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: rawOf(body) }),
    });
  }

  /** @param by the administrator whose key creates it; the root key by default */
  async administrator(role: string, name = 'Somebody', by?: Administrator): Promise<Administrator> {
    const create = by ? by.call : this.admin.bind(this);
    const { status, text, json } = await create('POST', '/v1/admin/keys', { name, role });
    if (status !== 201) throw new Error(`a key of ${name} was answered ${status} ${text}`);
    const { id, key } = json as { id: string; key: string };
    const call: Administrator['call'] = (method, path, body, headers) =>
      this.admin(method, path, body, { ...bearer(key), ...headers });
    return { id, key, actor: `key:${id}`, call };
  }

  /** The four headers of a call, signed as the options say, even if it must be refused. */
  signature(tenantId: string, path: string, body: string | Uint8Array, options: SignedOptions = {}) {
    const { method = 'POST', nonce = randomUUID() } = options;
    const secret = options.secret ?? this.secrets.get(tenantId) ?? 'no secret';
    const timestamp = String(Math.floor(options.timestamp ?? this.clock.unixSeconds()));
    return {
      'X-Tenant-ID': options.tenantId ?? tenantId,
      'X-Timestamp': timestamp,
      'X-Nonce': nonce,
      'X-Signature': signatureOf(secret, { method, path, timestamp, nonce, body }),
    };
  }

  /** Sends a signed call; an object is sent as JSON, a text or bytes as they are. */
  signed(
    tenantId: string,
    path: string,
    body: object | string | Uint8Array,
    options: SignedOptions = {},
  ): Promise<Reply> {
    const raw = rawOf(body);
    return this.request(path, {
      method: options.method ?? 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...this.signature(tenantId, path, raw, options),
        ...options.headers,
      },
      body: raw,
    });
  }

  /** A signed GET of an operator. */
  signedGet(operator: string, path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.request(path, {
      headers: { ...this.signature(operator, path, '', { method: 'GET' }), ...headers },
    });
  }

  async launch(overrides: Record<string, unknown> = {}, operator = OPERATOR): Promise<LaunchedSession> {
    const request = { playerRef: `player-${randomUUID()}`, gameId: GAME, currency: 'EUR', ...overrides };
    const reply = await this.signed(operator, '/v1/operator/sessions', request);
    if (reply.status !== 201) throw new Error(`launch was answered ${reply.status} ${reply.text}`);
    const { sessionToken, sessionId } = reply.json as { sessionToken: string; sessionId: string };
    const { playerRef, gameId, currency } = request;
    return { sessionToken, sessionId, playerRef, gameId, currency };
  }

  /**
   * Creates a provider of the test's own, so that no other test counts its requests, not even in a shared Redis.
   * @returns its id
   */
  async createProvider(fields: Record<string, unknown> = {}): Promise<string> {
    const id = `provider-${randomUUID()}`;
    await create(this, '/v1/admin/providers', {
      id,
      name: id,
      webhookBaseUrl: this.provider.baseUrl,
      ...fields,
    });
    return id;
  }

  /**
   * Creates an operator whose wallet is `wallet`.
   * @returns its id
   */
  async createOperator(fields: Record<string, unknown> = {}): Promise<string> {
    const id = `operator-${randomUUID()}`;
    await create(this, '/v1/admin/operators', {
      id,
      name: id,
      walletBaseUrl: this.wallet.baseUrl,
      ...fields,
    });
    this.wallet.setSecret(id, this.secrets.get(id) ?? '');
    return id;
  }

  revoke(sessionId: string): Promise<Reply> {
    return this.signed(OPERATOR, `/v1/operator/sessions/${sessionId}/revoke`, { reason: 'KICK' });
  }

  /** The body of a transaction of a session; fresh ids unless they are given. */
  transaction(session: LaunchedSession, kind: string, fields: Record<string, unknown> = {}) {
    const { sessionToken, playerRef, gameId, currency } = session;
    return {
      sessionToken,
      playerRef,
      gameId,
      currency,
      kind,
      transactionId: `${kind.toLowerCase()}-${randomUUID()}`,
      roundId: `round-${randomUUID()}`,
      ...(kind !== 'ROLLBACK' && { amountMinor: 100 }),
      ...fields,
    };
  }

  submit(body: object, provider = PROVIDER): Promise<Reply> {
    return this.signed(provider, '/v1/wallet/transaction', body);
  }

  balance(session: LaunchedSession): Promise<Reply> {
    return this.signed(PROVIDER, '/v1/wallet/balance', { sessionToken: session.sessionToken });
  }

  /** Expires the lease of a PENDING transaction, as if its instance had died. */
  async endLease(transactionId: string): Promise<void> {
    await this.sql.run(
      `UPDATE transactions SET lease_until = clock_timestamp() - interval '1 second'
        WHERE transaction_id = $1 AND state = 'PENDING'`,
      [transactionId],
    );
  }

  /** Lets time pass for a session, by the database's clock: it becomes older by this number of seconds. */
  async ageSession({ sessionId }: Pick<LaunchedSession, 'sessionId'>, seconds: number): Promise<void> {
    await this.sql.run(
      `UPDATE sessions SET created_at = created_at - age, expires_at = expires_at - age, revoked_at = revoked_at - age
         FROM make_interval(secs => $2) AS age WHERE session_id = $1`,
      [sessionId, seconds],
    );
  }

  async stateOf(transactionId: string): Promise<string | undefined> {
    const [row] = await this.sql.run<{ state: string }>(
      'SELECT state FROM transactions WHERE transaction_id = $1',
      [transactionId],
    );
    return row?.state;
  }
}

/** The world of a test file or of a `describe`: it starts before the tests and stops after them. */
export function useWorld(environment: Environment = {}, logs?: DestinationStream): World {
  // Declared at once and completed when the world has started, so that a test file can hold it in a constant.
  const world = Object.create(World.prototype) as World;
  beforeAll(async () => {
    Object.assign(world, await startWorld(environment, logs));
    return () => world.stop();
  });
  return world;
}

/** Starts a new world, with two providers, two operators and three games. */
export async function startWorld(environment: Environment = {}, logs?: DestinationStream): Promise<World> {
  const clock = new TestClock();
  const database = await createMigratedDatabase();
  const unixSeconds = () => clock.unixSeconds();
  const wallet = await OperatorWalletCounterpart.start({ unixSeconds });
  const provider = await ProviderCounterpart.start(unixSeconds);
  const { app, url } = await startApplication({ DATABASE_URL: database.url, ...environment }, clock, logs);
  const sql = SqlConsole.open(database.url);
  const world = new World(app, url, database.url, clock, wallet, provider, sql, () => database.drop());
  await populate(world);
  return world;
}

/** The document in docs/openapi, once for all files of a worker: compiling its schemas takes longer than many tests. */
function exportedDocument(): ApiDocument {
  const worker = globalThis as { exportedDocument?: ApiDocument };
  return (worker.exportedDocument ??= new ApiDocument(JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApi));
}

let observedLogger: ServiceLogger | undefined;

/** One instance of the service; several may share a database. */
export async function startApplication(
  environment: Environment,
  clock: Clock,
  logs?: DestinationStream,
  limits: Partial<ServerLimits> = {},
): Promise<{ app: INestApplication; url: string; configuration: Configuration }> {
  const redisUrl = inject('redisUrl');
  const configuration = readConfiguration({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_API_KEY: ADMIN_KEY,
    SECRETS_KEY: Buffer.alloc(32, 'test').toString('base64'),
    OUTBOUND_ALLOW_PRIVATE: 'true',
    OPERATOR_TIMEOUT_MS: '1500',
    REQUESTS_PER_SECOND: '100000',
    LOG_LEVEL: 'silent',
    // The documents take a third of the start; the tests that read them switch them on.
    DOCS_ENABLED: 'false',
    ...(redisUrl !== null && { REDIS_URL: redisUrl }),
    ...groupCommitEnvironment(),
    ...environment,
  });
  const builder = Test.createTestingModule({ imports: [AppModule.with(configuration)] });
  if (groupCommitMode() === 'always') builder.overrideProvider(GroupCommit).useClass(AlwaysBatched);
  if (!freshClaimsEnabled()) {
    builder.overrideProvider(FreshClaims).useValue({ tryClaim: () => Promise.resolve(undefined) });
  }
  const module = await builder
    .overrideProvider(Clock)
    .useValue(clock)
    .overrideProvider(LogDestination)
    .useValue(logs ? { stream: logs } : {})
    .compile();
  const app = module.createNestApplication(
    new CroupierExpressAdapter(configuration, limits),
    APPLICATION_OPTIONS,
  );
  setUp(app);
  // Nest has one logger per process: that of the application whose lines the test file reads.
  if (logs) observedLogger = app.get(ServiceLogger);
  if (observedLogger) app.useLogger(observedLogger);
  await app.listen(configuration.port, configuration.host);
  return { app, url: await app.getUrl(), configuration };
}

async function populate(world: World): Promise<void> {
  for (const id of [PROVIDER, OTHER_PROVIDER]) {
    await create(world, '/v1/admin/providers', { id, name: id, webhookBaseUrl: world.provider.baseUrl });
    world.provider.setSecret(id, world.secrets.get(id) ?? '');
  }
  for (const id of [OPERATOR, OTHER_OPERATOR]) {
    await create(world, '/v1/admin/operators', { id, name: id, walletBaseUrl: world.wallet.baseUrl });
    world.wallet.setSecret(id, world.secrets.get(id) ?? '');
  }
  const games = { [GAME]: PROVIDER, [OTHER_GAME]: PROVIDER, [FOREIGN_GAME]: OTHER_PROVIDER };
  for (const [gameId, providerId] of Object.entries(games)) {
    const game = { providerId, name: gameId, status: 'ACTIVE' };
    const reply = await world.admin('PUT', `/v1/admin/games/${gameId}`, game);
    if (reply.status !== 200) throw new Error(`game ${gameId} was answered ${reply.status} ${reply.text}`);
  }
}

async function create(
  world: World,
  path: string,
  tenant: { id: string } & Record<string, unknown>,
): Promise<void> {
  const reply = await world.admin('POST', path, tenant);
  if (reply.status !== 201) throw new Error(`${tenant.id} was answered ${reply.status} ${reply.text}`);
  world.secrets.set(tenant.id, String(reply.json['secret']));
}

function rawOf(body: object | string | Uint8Array): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
