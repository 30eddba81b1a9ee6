import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Witness } from '../audit/entry.js';
import { verifyAudit } from '../audit/verification.js';
import { readStorage, type Storage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { withServiceDatabase } from './service-database.js';

const USAGE = 'usage: npm run audit:verify [-- --head DAY/POSITION/HASH]';
const WITNESS = /^(\d{4}-\d{2}-\d{2})\/([1-9]\d{0,8})\/([0-9a-f]{64})$/;

/**
 * Proves the audit log, and names the first row that does not hold.
 * @param head what an earlier run printed: that entry must still be there, unaltered
 * @returns the exit status: 0 it holds, 1 it does not
 * @throws Error where it could not be read
 */
export async function proveAudit(
  storage: Storage,
  head: string | undefined,
  print: (line: string) => void,
): Promise<0 | 1> {
  const witness = head === undefined ? undefined : witnessIn(head);
  const verdict = await withServiceDatabase(storage, (database) => verifyAudit(database, witness));
  if (verdict.kind === 'broken') {
    print(`The audit log is broken at ${verdict.at}: ${verdict.reason}.`);
    return 1;
  }
  print(`The audit log holds: ${verdict.entries} entries of ${verdict.days} days.`);
  if (verdict.head) print(`head ${verdict.head.day}/${verdict.head.position}/${verdict.head.hash}`);
  return 0;
}

function witnessIn(head: string): Witness {
  const [, day, position, hash] = WITNESS.exec(head) ?? [];
  if (day === undefined || position === undefined || hash === undefined) throw new Error(USAGE);
  return { day, position: Number(position), hash };
}

/** Exit status 2: it could not run, and nothing is proved. */
async function main(): Promise<void> {
  try {
    const { values } = parseArgs({ options: { head: { type: 'string' } } });
    const print = (line: string) => process.stdout.write(`${line}\n`);
    process.exitCode = await proveAudit(readEnvironment(readStorage), values.head, print);
  } catch (error) {
    process.stderr.write(`audit:verify could not run: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}

if (realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main();
