import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Configuration, readConfiguration } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { inUse, isOwned } from '../embedded-postgres/embedded-postgres.js';
import { failureText } from '../runtime/failure-text.js';
import { listenFailure } from '../server/listen-failure.js';
import { visible } from '../runtime/visible.js';

/**
 * Checks, before the service is created, that the configuration is valid, the ports are free and no other instance uses
 * the data folder. If a check fails, prints one line and sets the exit status to 1.
 */
export async function checkStart(): Promise<void> {
  try {
    const configuration = readEnvironment(readConfiguration);
    for (const each of portsOf(configuration)) await checkPort(each, configuration.host);
    const { databaseUrl, dataDir } = configuration;
    if (databaseUrl === undefined && (await isOwned(dataDir))) throw inUse(dataDir);
  } catch (error) {
    process.stderr.write(`croupier does not start: ${visible(failureText(error))}\n`);
    process.exitCode = 1;
  }
}

interface NamedPort {
  readonly port: number;
  readonly portName: string;
}

/** The service's port, and those of the sandbox's wallet and provider. None for port 0, which means any free port. */
function portsOf({ port, sandbox }: Configuration): NamedPort[] {
  if (port === 0) return [];
  const own = { port, portName: 'PORT' };
  if (!sandbox) return [own];
  return [own, { port: port + 1, portName: 'PORT+1' }, { port: port + 2, portName: 'PORT+2' }];
}

async function checkPort({ port, portName }: NamedPort, host: string): Promise<void> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenFailure(error, { port, portName, host });
  }
  server.close();
  await once(server, 'close');
}
