import { type INestApplication, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { AppModule } from './app.module.js';
import { type Configuration, readConfiguration } from './config/configuration.js';
import { readEnvironment } from './config/environment.js';
import { ConsoleSandbox } from './console/console-sandbox.js';
import { Database } from './database/database.js';
import { startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { APPLICATION_OPTIONS, setUp } from './server/application.js';
import { CroupierExpressAdapter } from './server/express-adapter.js';
import { listenFailure } from './server/listen-failure.js';
import { VERSION } from './runtime/build.js';
import { Clock } from './runtime/clock.js';
import { readArguments } from './runtime/command-line.js';
import { failureText } from './runtime/failure-text.js';
import { Lifecycle } from './runtime/lifecycle.js';
import { nodeWarning } from './runtime/node-version.js';
import { type Drain, onStopSignal, type Stopped } from './runtime/shutdown.js';
import { visible } from './runtime/visible.js';
import type { RenderDocuments } from './openapi/pages/pages.js';
import { createExamples } from './sandbox/examples.js';
import { startSandbox } from './sandbox/sandbox.js';
import { TenancyService } from './tenancy/tenancy.service.js';

const COMMAND = {
  name: 'start',
  help: `npm start, or node dist/main.js

Starts the service, which reads its configuration from the environment and from the file .env in the working directory.
.env.example lists all variables. npm start also builds the service if necessary, and starts the sandbox.

SIGTERM, SIGINT and SIGHUP stop it. Exit status 0: stopped, even before it had started; 1: did not start, or did not
stop cleanly; 2: it was given an argument that it does not know.`,
  options: {},
} as const;

/** Time that each part gets to stop before the service has started, in milliseconds, so that all parts stop within 5 s. */
const UNSTARTED_STOP_MS = 1_000;

const logger = new Logger('Croupier');

/** The running parts, in the order in which they are stopped: parts that others call are stopped last. */
interface Running {
  server?: Server;
  /** Set once the service has started. */
  drain?: () => Drain;
  /** Set if the start has failed, or a signal has interrupted it. */
  ended?: 'failed' | 'interrupted';
  readonly stops: ((patienceMs?: number) => Promise<void>)[];
}

/** Starts the parts that the configuration demands. */
async function start(configuration: Configuration, running: Running): Promise<void> {
  try {
    const databaseUrl = configuration.databaseUrl ?? (await startDatabase(configuration, running));
    const module = AppModule.with({ ...configuration, databaseUrl });
    const app = await NestFactory.create(
      module,
      new CroupierExpressAdapter(configuration),
      APPLICATION_OPTIONS,
    );
    running.stops.unshift(() => app.close());
    running.server = app.getHttpServer() as Server;
    const renderDocuments = setUp(app);
    renderDocuments();
    warnOfEmbeddedDatabase(configuration);
    warnOfMisspelt(configuration);
    warnOfNode(configuration, app.get(Clock));
    await listen(app, configuration);
    await reportStart(app, configuration);
    running.drain = () => beginDrain(app, configuration);
    // An error such as a failed accept is only logged: existing and new connections are still served.
    running.server.on('error', (error) =>
      process.stderr.write(`the listener failed: ${visible(error.message)}\n`),
    );
    if (configuration.sandbox) await openSandbox(configuration, app, running, renderDocuments);
  } catch (error) {
    running.ended ??= 'failed';
    await abandon(running);
    throw error;
  }
}

/** Logs what runs and where, without passwords. Contract, section 10. */
async function reportStart(app: INestApplication, { databaseUrl, redisUrl }: Configuration): Promise<void> {
  logger.log({
    msg: 'started',
    version: VERSION,
    address: await app.getUrl(),
    database: databaseUrl === undefined ? 'embedded' : withoutCredentials(databaseUrl),
    redis: redisUrl === undefined ? 'none' : withoutCredentials(redisUrl),
    migrationsRun: app.get(Database).migrationsRun,
  });
}

function withoutCredentials(url: string): string {
  const { host, pathname } = new URL(url);
  return host + pathname;
}

function reportStop({ outcome, signal, afterMs }: Stopped): void {
  const line = { msg: 'stopped', signal, afterMs, outcome };
  if (outcome === 'clean') logger.log(line);
  else logger.error(line);
}

/** Time from the longest time-out of a call to the limit of a stop, in milliseconds: to settle, write and close. */
const ENDING_MS = 2_000;
/** Minimum time limit of a stop, in milliseconds. */
const SHORTEST_STOP_MS = 10_000;

/** Marks the instance as not ready, and returns the delay and the time limit of the stop. Contract, section 10. */
function beginDrain(app: INestApplication, { shutdownDelayMs, callbackTimeoutMs }: Configuration): Drain {
  app.get(Lifecycle).stopping = true;
  const longestWalletTimeoutMs = app.get(TenancyService).longestWalletTimeoutInUseMs();
  return {
    delayMs: shutdownDelayMs,
    limitMs: Math.max(SHORTEST_STOP_MS, Math.max(longestWalletTimeoutMs, callbackTimeoutMs) + ENDING_MS),
  };
}

/**
 * Stops all parts in order, even if one of them fails to stop.
 * @throws the first failure
 */
async function stop({ stops }: Running): Promise<void> {
  const failures: unknown[] = [];
  for (let next = stops.shift(); next; next = stops.shift()) {
    await next().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Stops the parts of a start that failed or was interrupted, and waits for each for at most twice `UNSTARTED_STOP_MS`.
 * @returns whether all have stopped
 */
async function abandon({ stops }: Running): Promise<boolean> {
  let clean = true;
  for (let next = stops.shift(); next; next = stops.shift()) {
    const stopped = next(UNSTARTED_STOP_MS).then(
      () => true,
      (error: unknown) => {
        process.stderr.write(`croupier did not stop cleanly: ${visible(failureText(error))}\n`);
        return false;
      },
    );
    const inTime = await Promise.race([stopped, sleep(2 * UNSTARTED_STOP_MS, false, { ref: false })]);
    clean &&= inTime;
  }
  return clean;
}

/** @throws Error with one line, which names PORT or HOST if the cause is known */
async function listen(app: INestApplication, { port, host }: Configuration): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw listenFailure(error, { port, host });
  }
}

function warnOfEmbeddedDatabase({ production, databaseUrl }: Configuration): void {
  if (!production || databaseUrl !== undefined) return;
  new Logger('Database').warn(
    'DATABASE_URL is not set: the embedded PostgreSQL is for trials and small installations; set DATABASE_URL ' +
      'to a PostgreSQL that you maintain',
  );
}

function warnOfMisspelt({ misspelt }: Configuration): void {
  if (misspelt.length === 0) return;
  const pairs = misspelt.map(({ name, meant }) => `${name} (${meant}?)`).join(', ');
  logger.warn({ msg: `set, but not read, and perhaps misspelt: ${pairs}` });
}

function warnOfNode({ production }: Configuration, clock: Clock): void {
  const warning = production ? nodeWarning(process.versions.node, clock.now()) : undefined;
  if (warning !== undefined) new Logger('Node').warn(warning);
}

async function startDatabase(configuration: Configuration, { stops }: Running): Promise<string> {
  const abandoned = new AbortController();
  const starting = startEmbeddedPostgres({
    dataDir: configuration.dataDir,
    log: (line) => process.stderr.write(`${visible(line)}\n`),
    abandoned: abandoned.signal,
  });
  stops.push(async (patienceMs) => {
    abandoned.abort();
    // A start that fails has stopped its server.
    const database = await starting.catch(() => undefined);
    await database?.stop(patienceMs);
  });
  return (await starting).url;
}

async function openSandbox(
  { adminApiKey, dataDir, port }: Configuration,
  app: INestApplication,
  { stops }: Running,
  renderDocuments: RenderDocuments,
): Promise<void> {
  const sandbox = await startSandbox({
    apiUrl: await app.getUrl(),
    adminApiKey,
    folder: join(dataDir, 'sandbox'),
    walletPort: port === 0 ? 0 : port + 1,
    providerPort: port === 0 ? 0 : port + 2,
    log: (line) => process.stdout.write(`${visible(line)}\n`),
  });
  // The sandbox stops after the application, because it answers the application's last calls.
  stops.splice(1, 0, () => sandbox.stop());
  app.get(ConsoleSandbox).open({ ...sandbox.file, faults: sandbox.walletFaults });
  try {
    renderDocuments(await createExamples(sandbox.file));
  } catch (error) {
    // The examples fail if, for example, the sandbox's operator is disabled. Everything else works without them.
    logger.warn({ msg: visible(failureText(error)) });
  }
  process.stdout.write(`\n${sandbox.summary()}\n\n`);
}

// After a burst, V8 would allocate the objects of each request in the old generation, where they stay until a full
// garbage collection and keep younger objects alive. This would cost 4 to 10 % of the CPU time (docs/performance.md).
setFlagsFromString('--no-allocation-site-pretenuring');

async function serve(): Promise<void> {
  const running: Running = { stops: [] };
  try {
    const started = start(readEnvironment(readConfiguration), running);
    onStopSignal(
      () => running.server,
      () => running.drain?.(),
      async () => {
        if (running.drain === undefined) running.ended ??= 'interrupted';
        if (running.ended === 'interrupted') {
          if (!(await abandon(running))) throw new Error('a part of the service has not stopped');
          return;
        }
        // Waits for the sandbox, which starts last, so that it is not left running. A failed start stops its own parts.
        return started.then(
          () => stop(running),
          () => undefined,
        );
      },
      (how) => {
        if (running.ended !== 'interrupted') reportStop(how);
        // The application's log may not be set up yet.
        else process.stderr.write(`croupier was stopped by ${how.signal} before it had started\n`);
      },
    );
    await started;
  } catch (error) {
    // The start fails because its parts are being stopped. The process ends when all of them have stopped.
    if (running.ended === 'interrupted') return;
    process.stderr.write(`croupier does not start: ${visible(failureText(error))}\n`);
    // A half-started part may hold a handle that keeps the process alive, and nothing that matters is running.
    process.exit(1);
  }
}

if (readArguments(COMMAND)) await serve();
