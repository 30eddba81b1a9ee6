import { readStorage, type Storage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { makePartitions } from '../database/partitions.js';
import { isProgram, type Print, runCommand, UsageError } from '../runtime/command-line.js';
import { withServiceDatabase } from './service-database.js';

const DEFAULT_MONTHS = '3';
const MAX_MONTHS = 24;
const COMMAND = {
  name: 'partitions',
  help: `npm run partitions [-- --months N]

Creates the missing partitions of the coming months, with the URL of the schema's owner. It may be repeated.

  --months   how many months ahead, 1 to ${MAX_MONTHS}; default ${DEFAULT_MONTHS}

Exit status 0: the partitions exist; 2: the command failed.`,
  options: { months: { type: 'string', default: DEFAULT_MONTHS } },
} as const;

/** @throws Error with one sentence if a table's partitions could not be created; that table is then unchanged */
export async function makeMonthsAhead(storage: Storage, months: number, print: Print): Promise<void> {
  const made = await withServiceDatabase(storage, (database) => makePartitions(database, months), 'owner');
  for (const name of made) print(`Made ${name}.`);
  print(`The partitioned tables have partitions for ${months} months ahead.`);
}

function monthsIn(text: string): number {
  const months = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (months < 1 || months > MAX_MONTHS) throw new UsageError(`--months must be from 1 to ${MAX_MONTHS}`);
  return months;
}

if (isProgram(import.meta.url)) {
  await runCommand(COMMAND, ({ months }, print) =>
    makeMonthsAhead(readEnvironment(readStorage), monthsIn(months), print),
  );
}
