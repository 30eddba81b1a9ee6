import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Witness } from '../audit/entry.js';
import { HeadFile } from '../audit/head-file.js';
import { headText, parseHead } from '../audit/head.js';
import type { SealCount } from '../audit/seal-check.js';
import { Sealer } from '../audit/sealer.js';
import { verifyAudit } from '../audit/verification.js';
import { type AuditProof, readAuditProof, type SecretsKeys } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import { withServiceDatabase } from './service-database.js';

const USAGE = 'usage: npm run audit:verify [-- --head DAY/POSITION/HASH]';

type Print = (line: string) => void;

/**
 * Verifies the audit log, its seals and the heads kept outside. Names the first row that does not hold.
 * @param proof without a key, the seals are not checked, and it says so
 * @param head what an earlier run printed: that entry must still be there, unaltered
 * @returns the exit status: 0 it holds, 1 it does not
 * @throws Error where it could not be read
 */
export async function proveAudit(proof: AuditProof, head: string | undefined, print: Print): Promise<0 | 1> {
  const file = proof.auditHeadFile === undefined ? undefined : new HeadFile(proof.auditHeadFile);
  const heads = headsOf(head === undefined ? undefined : headIn(head), file);
  return withServiceDatabase(proof, async (database) => {
    const keys = keysOf(proof);
    const sealer = keys && new Sealer(keys);
    const verdict = await verifyAudit(database, { heads, ...(sealer && { sealer }) });
    if (verdict.kind === 'broken') {
      print(`The audit log is broken at ${verdict.at}: ${verdict.reason}.`);
      return 1;
    }
    print(`The audit log holds: ${verdict.entries} entries of ${verdict.days} days.`);
    if (verdict.head) print(`head ${headText(verdict.head)}`);
    if (file) printHeadFile(file, print);
    if (verdict.seals) printSeals(verdict.seals, print);
    else print('The seals were not checked: SECRETS_KEY is not set.');
    return 0;
  });
}

function printHeadFile({ path, count, unreadableLines }: HeadFile, print: Print): void {
  print(`AUDIT_HEAD_FILE: ${count} heads of ${path} are in the log.`);
  if (unreadableLines > 0)
    print(`AUDIT_HEAD_FILE: ${unreadableLines} lines are not a head and were skipped.`);
}

function printSeals({ valid, ofUnknownKey, coveredOnly, notYetSealed }: SealCount, print: Print): void {
  print(`Seals: ${valid} are valid.`);
  if (ofUnknownKey > 0)
    print(`Seals: ${ofUnknownKey} are of a key not known here; a later valid one covers them.`);
  if (coveredOnly > 0) {
    print(
      `Seals: ${coveredOnly} entries have none of their own (an earlier version writes none); a later one covers them.`,
    );
  }
  if (notYetSealed > 0)
    print(`Seals: ${notYetSealed} entries are not sealed yet; the next seal covers them.`);
}

function keysOf({ secretsKey, secretsKeyPrevious }: AuditProof): SecretsKeys | undefined {
  return secretsKey && { secretsKey, ...(secretsKeyPrevious && { secretsKeyPrevious }) };
}

async function* headsOf(given: Witness | undefined, file: HeadFile | undefined): AsyncGenerator<Witness> {
  if (given) yield given;
  if (file) yield* file.heads();
}

function headIn(text: string): Witness {
  const head = parseHead(text);
  if (!head) throw new Error(USAGE);
  return head;
}

/** Exit status 2: it could not run, and nothing is proved. */
async function main(): Promise<void> {
  try {
    const { values } = parseArgs({ options: { head: { type: 'string' } } });
    const print = (line: string) => process.stdout.write(`${line}\n`);
    process.exitCode = await proveAudit(readEnvironment(readAuditProof), values.head, print);
  } catch (error) {
    process.stderr.write(`audit:verify could not run: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}

if (realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main();
