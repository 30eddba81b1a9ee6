import { NestFactory } from '@nestjs/core';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { AppModule } from './app.module.js';
import { type Configuration, ConfigurationError, readConfiguration } from './config/configuration.js';
import { readEnvironment } from './config/environment.js';
import { startEmbeddedPostgres } from './database/embedded-postgres.js';
import { APPLICATION_OPTIONS, setUp } from './http/application.js';
import { httpAdapter } from './http/server.js';
import { onStopSignal } from './runtime/shutdown.js';
import { startSandbox } from './sandbox/sandbox.js';

/** Starts what the configuration asks for; what the others call until the end is stopped last. */
async function start(configuration: Configuration): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const stopOne of stops) await stopOne();
  };
  try {
    const databaseUrl = configuration.databaseUrl ?? (await startDatabase(configuration, stops));
    const module = AppModule.with({ ...configuration, databaseUrl });
    const app = await NestFactory.create(module, httpAdapter(), APPLICATION_OPTIONS);
    stops.unshift(() => app.close());
    setUp(app);
    await app.listen(configuration.port, configuration.host);
    if (configuration.sandbox) await openSandbox(configuration, await app.getUrl(), stops);
    onStopSignal(app.getHttpServer() as Server, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startDatabase(configuration: Configuration, stops: (() => Promise<void>)[]): Promise<string> {
  const database = await startEmbeddedPostgres({
    dataDir: configuration.dataDir,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  stops.push(() => database.stop());
  return database.url;
}

async function openSandbox(
  { adminApiKey, dataDir, port }: Configuration,
  apiUrl: string,
  stops: (() => Promise<void>)[],
): Promise<void> {
  const sandbox = await startSandbox({
    apiUrl,
    adminApiKey,
    folder: join(dataDir, 'sandbox'),
    walletPort: port === 0 ? 0 : port + 1,
    providerPort: port === 0 ? 0 : port + 2,
    log: (line) => process.stdout.write(`${line}\n`),
  });
  // After the application, whose last calls it answers.
  stops.splice(1, 0, () => sandbox.stop());
  process.stdout.write(`\n${sandbox.summary()}\n\n`);
}

try {
  await start(readEnvironment(readConfiguration));
} catch (error) {
  const message =
    error instanceof ConfigurationError ? error.message : ((error as Error).stack ?? String(error));
  process.stderr.write(`croupier does not start: ${message}\n`);
  process.exitCode = 1;
}
