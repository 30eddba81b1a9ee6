import { readStorage, type Storage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { migrate, pendingMigrations } from '../database/data-source.js';
import { isProgram, type Print, runCommand } from '../runtime/command-line.js';
import { atServiceDatabase } from './service-database.js';

const COMMAND = {
  name: 'migrate',
  help: `npm run migrate [-- --dry-run]

Brings the schema of the database up to date: that of DATABASE_URL, else the embedded one in DATA_DIR. It may be repeated.

  --dry-run   names the migrations that would run, and changes nothing

Exit status 0: the schema is up to date, or the migrations were named; 2: could not run, or a migration failed.`,
  options: { 'dry-run': { type: 'boolean' } },
} as const;

/**
 * Run it with the URL of the schema's owner, so that the service's own role needs no right to change the schema.
 * @throws Error with one sentence if there is no database, or the role lacks a right
 */
export async function migrateDatabase(storage: Storage, print: Print): Promise<void> {
  const names = await atServiceDatabase(storage, migrate);
  for (const name of names) print(`Ran migration ${name}.`);
  print('The schema is up to date.');
}

/** @throws Error with one sentence if there is no database */
export async function previewMigrations(storage: Storage, print: Print): Promise<void> {
  const names = await atServiceDatabase(storage, pendingMigrations, 'owner');
  for (const name of names) print(`Would run migration ${name}.`);
  print(names.length === 0 ? 'The schema is up to date.' : 'Nothing was changed.');
}

if (isProgram(import.meta.url)) {
  await runCommand(COMMAND, (values, print) => {
    const storage = readEnvironment(readStorage);
    return values['dry-run'] ? previewMigrations(storage, print) : migrateDatabase(storage, print);
  });
}
