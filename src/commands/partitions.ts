import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readStorage, type Storage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { makePartitions } from '../database/partitions.js';
import { tolerateBrokenOutput } from '../runtime/standard-streams.js';
import { withServiceDatabase } from './service-database.js';

const USAGE = 'usage: npm run partitions [-- --months 1…24]';
const DEFAULT_MONTHS = '3';
const MAX_MONTHS = 24;

/**
 * Creates the partitions of the coming months. Run the command every month with the URL of the schema's owner. It may
 * be repeated.
 * @param months how many months ahead, 1 to 24
 * @throws Error with one sentence if a table's partitions could not be created; that table is then unchanged
 */
export async function makeMonthsAhead(
  storage: Storage,
  months: number,
  print: (line: string) => void,
): Promise<void> {
  const made = await withServiceDatabase(storage, (database) => makePartitions(database, months));
  for (const name of made) print(`Made ${name}.`);
  print(`The partitioned tables have partitions for ${months} months ahead.`);
}

function monthsIn(text: string): number {
  const months = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (months < 1 || months > MAX_MONTHS) throw new Error(USAGE);
  return months;
}

/** Exit status 2: the command failed. */
async function main(): Promise<void> {
  tolerateBrokenOutput();
  try {
    const { values } = parseArgs({ options: { months: { type: 'string', default: DEFAULT_MONTHS } } });
    const print = (line: string) => process.stdout.write(`${line}\n`);
    await makeMonthsAhead(readEnvironment(readStorage), monthsIn(values.months), print);
  } catch (error) {
    process.stderr.write(`partitions: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}

if (realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main();
