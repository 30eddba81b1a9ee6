import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Collector } from './collector.js';
import * as floor from './floor.sql.js';
import { FASTIFY, previousBuild } from './previous.js';
import * as service from './service.sql.js';
import { Streams } from './streams.js';
import * as usual from './usual.sql.js';
import { GAME_ID, OPERATOR_ID, OPERATOR_SECRET, PROVIDER_ID, PROVIDER_SECRET, SESSIONS } from './world.js';

/**
 * The service as it is, with tracing, with 200 readers of its live view, and as it was at an earlier commit; the two
 * floors and the usual stack. A whole run measures the floor between the others, so that each of them is measured soon
 * before or after it.
 */
export const NAMES = ['service', 'traced', 'watched', 'previous', 'floor', 'lean', 'usual'] as const;
export type Name = (typeof NAMES)[number];

/** A server under measurement, with a database of its own on the one PostgreSQL. */
export interface Contestant {
  readonly name: Name;
  readonly port: number;
  readonly pid: number;
  readonly databaseUrl: string;
  readonly providerSecret: string;
  readonly operatorSecret: string;
  readonly database: pg.Client;
  /** SQL that finds the transaction with the id $1 if it is in the state of the field's name. */
  readonly pendingSql: string;
  readonly approvedSql: string;
  seedBets(prefix: string, count: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Surroundings {
  /** A PostgreSQL whose user may create databases. */
  readonly postgresUrl: string;
  readonly operatorUrl: string;
  /** Folder for logs and the service's data. */
  readonly folder: string;
  /** Suffix of its database and files, if several contestants have the same name. */
  readonly label?: string;
  /** Flags of Node for the server under measurement. */
  readonly execArgv?: readonly string[];
  /** The commit of `previous`. */
  readonly previous?: string;
  /** The Node that runs a contestant, if it is not that of this process: its path. */
  readonly nodes?: ReadonlyMap<Name, string>;
  /** Additional variables for the service. */
  readonly environment?: Readonly<Record<string, string>>;
}

const SEEDS = { service, traced: service, watched: service, previous: service, floor, lean: floor, usual };
/** Contestants that are administered over HTTP and run as shipped. */
const isService = (name: Name): boolean => ['service', 'traced', 'watched', 'previous'].includes(name);
/** Share of the requests whose spans `traced` exports. */
const SAMPLE_RATIO = '0.1';

const ADMIN_KEY = 'bench-admin-key-0123456789abcdef0123456789';
const RATE_LIMIT = 1_000_000;
const HERE = import.meta.dirname;

/**
 * Starts a contestant, and fills its database unless it reuses that of another.
 * @param before a stopped contestant whose database is reused
 */
export async function start(
  name: Name,
  surroundings: Surroundings,
  before?: Contestant,
): Promise<Contestant> {
  const label = surroundings.label ?? name;
  const databaseUrl =
    before?.databaseUrl ?? (await createDatabase(surroundings.postgresUrl, `croupier_bench_${label}`));
  const port = await freePort();
  const collector = name === 'traced' ? await Collector.start() : undefined;
  const tracing = collector && {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: SAMPLE_RATIO,
  };
  const environment = { ...surroundings.environment, ...tracing };
  const child = await launch(name, port, databaseUrl, { ...surroundings, environment });
  const database = new pg.Client({ connectionString: databaseUrl });
  const { SEED_SESSIONS, SEED_BETS } = SEEDS[name];
  let streams: Streams | undefined;
  let secrets: Pick<Contestant, 'providerSecret' | 'operatorSecret'>;
  try {
    secrets = before ?? (await secretsOf(name, port, surroundings.operatorUrl));
    await database.connect();
    if (!before) await database.query(SEED_SESSIONS, [SESSIONS]);
    if (name === 'watched') streams = await Streams.open(port, ADMIN_KEY);
  } catch (error) {
    // The caller has no contestant to stop yet, so everything that was started is stopped here.
    await database.end();
    await stop(child);
    collector?.stop();
    throw error;
  }
  return {
    name,
    port,
    pid: child.pid!,
    databaseUrl,
    database,
    providerSecret: secrets.providerSecret,
    operatorSecret: secrets.operatorSecret,
    ...statesOf(name),
    seedBets: async (prefix, count) => {
      await database.query(SEED_BETS, [prefix, count]);
    },
    stop: async () => {
      streams?.close();
      await database.end();
      await stop(child);
      collector?.stop();
    },
  };
}

function statesOf(name: Name): Pick<Contestant, 'pendingSql' | 'approvedSql'> {
  const id = name === 'usual' ? '"transactionId"' : 'transaction_id';
  const inState = (state: string) => `SELECT 1 FROM transactions WHERE ${id} = $1 AND state = '${state}'`;
  return { pendingSql: inState('PENDING'), approvedSql: inState('APPROVED') };
}

async function createDatabase(postgresUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function launch(
  name: Name,
  port: number,
  databaseUrl: string,
  { operatorUrl, folder, label = name, execArgv = [], environment, previous = FASTIFY, nodes }: Surroundings,
): Promise<ChildProcess> {
  // The log goes to a file, as in production; reading a pipe would load the measuring process.
  const logFile = join(folder, `${label}.log`);
  const log = openSync(logFile, 'a');
  const env = {
    PATH: process.env['PATH'],
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    ...(isService(name)
      ? {
          ADMIN_API_KEY: ADMIN_KEY,
          SECRETS_KEY: Buffer.alloc(32, 'bench').toString('base64'),
          DATA_DIR: folder,
          OUTBOUND_ALLOW_PRIVATE: 'true',
          ...environment,
        }
      : { OPERATOR_URL: operatorUrl, RATE_LIMIT: String(RATE_LIMIT), FLOOR: name }),
  };
  const node = nodes?.get(name) ?? process.execPath;
  const child = spawn(node, [...execArgv, await programOf(name, previous)], {
    cwd: folder,
    env,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  await listening(child, port).catch(async (error: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`${name} ${(error as Error).message}:\n${await readFile(logFile, 'utf8')}`);
  });
  return child;
}

async function programOf(name: Name, previous: string): Promise<string> {
  switch (name) {
    case 'service':
    case 'traced':
    case 'watched':
      return join(HERE, '../../../dist/main.js');
    case 'previous':
      return join(await previousBuild(previous), 'dist/main.js');
    case 'floor':
    case 'lean':
      return join(HERE, 'floor.js');
    case 'usual':
      return join(HERE, 'usual.js');
  }
}

async function listening(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (child.exitCode !== null) throw new Error('ended while it started');
    if (
      await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    )
      return;
    await sleep(50);
  }
  throw new Error('does not listen');
}

/**
 * Calls the service as an administrator.
 * @throws Error unless the answer is a 2xx
 */
export async function asAdmin<T>(port: number, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/admin/${path}`, {
    method,
    headers: { Authorization: `Bearer ${ADMIN_KEY}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} was answered ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Reconciles a statement over HTTP, and returns the report. */
export async function postStatement(
  port: number,
  query: Record<string, string>,
  body: string,
): Promise<{ matched: number; findingsTotal: number }> {
  const parameters = new URLSearchParams(query).toString();
  const response = await fetch(`http://127.0.0.1:${port}/v1/admin/reconciliations?${parameters}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ADMIN_KEY}`, 'Content-Type': 'text/csv' },
    body,
  });
  if (response.status !== 201) throw new Error(`answered ${response.status} ${await response.text()}`);
  return (await response.json()) as { matched: number; findingsTotal: number };
}

/** Registers a provider with a game, and an operator. */
export async function register(
  port: number,
  operatorUrl: string,
  { providerId, operatorId, gameId }: { providerId: string; operatorId: string; gameId: string },
): Promise<{ providerSecret: string; operatorSecret: string }> {
  const provider = await asAdmin<{ secret: string }>(port, 'POST', 'providers', {
    id: providerId,
    name: providerId,
    webhookBaseUrl: operatorUrl,
    requestsPerSecond: RATE_LIMIT,
  });
  const operator = await asAdmin<{ secret: string }>(port, 'POST', 'operators', {
    id: operatorId,
    name: operatorId,
    walletBaseUrl: operatorUrl,
    requestsPerSecond: RATE_LIMIT,
  });
  await asAdmin(port, 'PUT', `games/${gameId}`, { providerId, name: gameId, status: 'ACTIVE' });
  return { providerSecret: provider.secret, operatorSecret: operator.secret };
}

async function secretsOf(name: Name, port: number, operatorUrl: string) {
  if (!isService(name)) return { providerSecret: PROVIDER_SECRET, operatorSecret: OPERATOR_SECRET };
  const ids = { providerId: PROVIDER_ID, operatorId: OPERATOR_ID, gameId: GAME_ID };
  return register(port, operatorUrl, ids);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  const gone = once(child, 'exit');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(late);
}
