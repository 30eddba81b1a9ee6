import { resolve } from 'node:path';
import { proveArchives } from '../audit/archive/archive.js';
import { auditOver } from '../audit/audit.service.js';
import { BrokenAuditError } from '../audit/chain.js';
import { headText, parseHead, placeText, type Witness } from '../audit/entry.js';
import { HeadFile } from '../audit/head-file.js';
import { type SealCount, Sealer } from '../audit/sealer.js';
import { verifyAudit } from '../audit/verification.js';
import { type AuditProof, readAuditProof } from '../config/configuration.js';
import { callersFolder, readEnvironment } from '../config/environment.js';
import type { Database } from '../database/database.js';
import { Randomness } from '../runtime/randomness.js';
import { SecretBox } from '../tenancy/secrets/secret-box.js';
import { type SecretReport, verifySecrets } from '../tenancy/secrets/secret-verification.js';
import { isProgram, type Print, runCommand, UsageError } from '../runtime/command-line.js';
import { withServiceDatabase } from './service-database.js';

const COMMAND = {
  name: 'audit:verify',
  help: `npm run audit:verify [-- [--head DAY/POSITION/HASH] [--archive FILE]…]

Verifies the audit log, its seals, and the ids of the stored secrets. Changes nothing.

  --head      a head that an earlier run printed; its entry must still exist, unaltered
  --archive   a file of npm run audit:archive to verify as well; may be repeated, oldest first

Exit status 0: all that was checked is valid; 1: it is not; 2: could not run.`,
  options: { head: { type: 'string' }, archive: { type: 'string', multiple: true } },
} as const;

/**
 * Verifies the audit log, its seals and the heads that are kept outside of it. Then compares the ids of the stored
 * secrets with those in the log. If the log is invalid, prints the place of the first invalid entry.
 * @param proof if it has no key, seals and secrets are not checked, and a printed line says so
 * @returns the exit status
 * @throws Error if `head` is malformed, or the log, the head file or an archive cannot be read
 */
export async function proveAudit(
  proof: AuditProof,
  head: string | undefined,
  print: Print,
  archives: readonly string[] = [],
): Promise<0 | 1> {
  const file = proof.auditHeadFile === undefined ? undefined : new HeadFile(proof.auditHeadFile);
  const heads = headsOf(head === undefined ? undefined : headIn(head), file);
  return withServiceDatabase(proof, async (database) => {
    const { secretsKey } = proof;
    const keys = secretsKey && { ...proof, secretsKey };
    const sealer = keys && new Sealer(keys);
    const log = await verifyAudit(database, { heads, sealer });
    print(`The audit log is valid: ${sizeOf(log)}.`);
    if (log.head) print(`head ${headText(log.head)}`);
    if (log.archive) {
      const { partition, record } = log.archive;
      print(`The log begins after the archive ${partition}, which is recorded at ${placeText(record)}.`);
    }
    if (file) printHeadFile(file, print);
    if (log.headsNotCompared > 0)
      print(
        `${log.headsNotCompared} heads of archived entries were not compared: their entries have no seal of a known key.`,
      );
    if (archives.length > 0) await proveFiles(database, archives, sealer, print);
    if (!keys || !log.seals) {
      print('The seals and the stored secrets were not checked: SECRETS_KEY is not set.');
      return 0;
    }
    printSeals(log.seals, print);
    const audit = auditOver(database, new Sealer(keys));
    const report = await verifySecrets(database, audit, new SecretBox(keys, new Randomness()));
    printSecrets(report, print);
    return report.stale.length > 0 ? 1 : 0;
  }).catch((error: unknown) => {
    if (!(error instanceof BrokenAuditError)) throw error;
    print(
      `The ${error.path === undefined ? 'audit log' : `archive ${error.path}`} is broken at ${error.message}.`,
    );
    return 1;
  });
}

function sizeOf({ entries, days }: { readonly entries: number; readonly days: number }): string {
  return `${entries} ${entries === 1 ? 'entry' : 'entries'} of ${days} ${days === 1 ? 'day' : 'days'}`;
}

async function proveFiles(
  database: Database,
  paths: readonly string[],
  sealer: Sealer | undefined,
  print: Print,
): Promise<void> {
  const { archive, chain, records, seals } = await proveArchives(database, paths, sealer);
  print(`The archive is valid: ${sizeOf(chain)}, up to ${headText(archive.head)}.`);
  print(
    `The archive is recorded in the audit log, or in an archive of it, at ${records.map(placeText).join(', ')}.`,
  );
  if (seals) printSeals(seals.count, print, 'Seals of the archive');
}

function printHeadFile({ path, count, unreadableLines }: HeadFile, print: Print): void {
  print(`AUDIT_HEAD_FILE: ${count} heads of ${path} were read, and none contradicts the log.`);
  if (unreadableLines > 0)
    print(`AUDIT_HEAD_FILE: lines that are not a head and were skipped: ${unreadableLines}.`);
}

function printSeals(count: SealCount, print: Print, subject = 'Seals'): void {
  const { valid, ofUnknownKey, coveredOnly, notYetSealed } = count;
  print(`${subject}: ${valid} are valid.`);
  if (ofUnknownKey > 0)
    print(`${subject}: ${ofUnknownKey} were made with an unknown key; a later valid one covers them.`);
  if (coveredOnly > 0) {
    print(
      `${subject}: ${coveredOnly} entries have none of their own (an earlier version writes none); a later one covers them.`,
    );
  }
  if (notYetSealed > 0)
    print(`${subject}: ${notYetSealed} entries are not sealed yet; the next seal covers them.`);
}

function printSecrets({ stale, identified, notIdentified }: SecretReport, print: Print): void {
  print(
    `Secrets: ${identified - new Set(stale.map(({ id }) => id)).size} tenants have the secrets that their latest log entries name.`,
  );
  if (notIdentified > 0) {
    print(
      `Secrets: ${notIdentified} tenants have secrets that an earlier version stored and that cannot be verified: ` +
        'run npm run secrets:re-encrypt.',
    );
  }
  for (const { noun, id, column, reason, recordedAt } of stale) {
    print(`The ${column} secret of ${noun} ${id} does not match the audit log (${recordedAt}): ${reason}.`);
    print(
      `Rotate it: POST /v1/admin/${noun}s/${id}/secret/rotate {"overlapSeconds":0}, and find out who wrote to the database.`,
    );
  }
}

async function* headsOf(given: Witness | undefined, file: HeadFile | undefined): AsyncGenerator<Witness> {
  if (given) yield given;
  if (file) yield* file.heads();
}

function headIn(text: string): Witness {
  const head = parseHead(text);
  if (!head) throw new UsageError('--head: must be DAY/POSITION/HASH');
  return head;
}

if (isProgram(import.meta.url)) {
  await runCommand(COMMAND, ({ head, archive }, print) => {
    const archives = archive?.map((path) => resolve(callersFolder('audit:verify'), path));
    return proveAudit(readEnvironment(readAuditProof), head, print, archives);
  });
}
