import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readStorage, type Storage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { migrate } from '../database/data-source.js';
import { atServiceDatabase } from './service-database.js';
import { tolerateBrokenOutput } from '../runtime/standard-streams.js';

/**
 * Brings the schema up to date. Run it with the URL of the schema's owner, so that the service's own role needs no
 * right to change the schema.
 * @throws Error with one sentence if there is no database, or the role lacks a right
 */
export async function migrateDatabase(storage: Storage, print: (line: string) => void): Promise<void> {
  const names = await atServiceDatabase(storage, migrate);
  for (const name of names) print(`Ran migration ${name}.`);
  print('The schema is up to date.');
}

/** Exit status 2: the command could not run, or a migration failed. The command can be repeated. */
async function main(): Promise<void> {
  tolerateBrokenOutput();
  try {
    const print = (line: string) => process.stdout.write(`${line}\n`);
    await migrateDatabase(readEnvironment(readStorage), print);
  } catch (error) {
    process.stderr.write(`migrate: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}

if (realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main();
