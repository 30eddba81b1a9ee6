import { Logger } from '@nestjs/common';
import { mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { auditEntryOf } from '../audit/archive/archive.js';
import {
  archivesToRestate,
  copyPartition,
  detachArchived,
  endedPartitions,
} from '../audit/archive/archiving.js';
import { auditOver } from '../audit/audit.service.js';
import type { EntryPlace } from '../audit/entry.js';
import { Sealer } from '../audit/sealer.js';
import { requireValidAudit } from '../audit/verification.js';
import {
  type AuditProof,
  readAuditProof,
  readSecretsKeys,
  readStorage,
  type Storage,
} from '../config/configuration.js';
import { callersFolder, readEnvironment } from '../config/environment.js';
import type { SecretsKeys } from '../config/keys.js';
import { repeatSecretEntries } from '../tenancy/secrets/re-encryption.js';
import { isProgram, type Print, runCommand, UsageError } from '../runtime/command-line.js';
import { withServiceDatabase } from './service-database.js';

const COMMAND = {
  name: 'audit:archive',
  help: `npm run audit:archive -- --before YYYY-MM --to FOLDER
npm run audit:archive -- --detach FILE

Copies the earlier months of the audit log to files and records them in the log, or detaches the partition of such a file.

  --before   the first month that stays
  --to       the folder for the files
  --detach   the file whose partition is detached, with the owner's DATABASE_URL

Exit status 0: done; 2: the command failed, or the log or a file is not valid.`,
  options: { before: { type: 'string' }, to: { type: 'string' }, detach: { type: 'string' } },
} as const;

/**
 * Copies partitions to files. It needs only the service's role. It may be repeated, because it skips recorded partitions.
 * @param month the first month that stays, `YYYY-MM`
 * @param folder is created if it does not exist
 * @throws Error if the log is not valid, or a file cannot be written or is not valid
 */
export async function archiveMonths(
  storage: Storage,
  keys: SecretsKeys,
  month: string,
  folder: string,
  print: Print,
): Promise<void> {
  const sealer = new Sealer(keys);
  const actor = { actor: `command:archive:${userInfo().username}`, role: 'command' };
  let files = 0;
  await mkdir(folder, { recursive: true });
  await withServiceDatabase(storage, async (database) => {
    await requireValidAudit(database, sealer);
    const audit = auditOver(database, sealer);
    for (const partition of await endedPartitions(database, month)) {
      const copy = await copyPartition(database, sealer, partition, folder);
      if (!copy) continue;
      const isArchived = ({ day }: EntryPlace) => day < partition.end;
      const archives = [...(await archivesToRestate(database, sealer, isArchived)), copy.archive];
      await audit.change(actor, async ({ query }, record) => {
        await repeatSecretEntries(query, audit, record, isArchived);
        for (const archive of archives) await record(auditEntryOf(archive));
      });
      files += 1;
      print(`Archived ${copy.archive.entries} entries of ${partition.name} in ${copy.path}.`);
    }
  });
  const done = files === 0 ? 'Nothing to archive' : `Partitions archived: ${files}`;
  print(`${done}. Of the months before ${month}, all that are over are archived now, or have no entries.`);
}

/**
 * Detaches the partition that an archive file contains, as `detachArchived`. It needs the role of the schema's owner.
 * @param proof if it has no key, no seals are verified
 */
export async function detachArchive(proof: AuditProof, path: string, print: Print): Promise<void> {
  const { secretsKey } = proof;
  const sealer = secretsKey && new Sealer({ ...proof, secretsKey });
  const name = await withServiceDatabase(
    proof,
    (database) => detachArchived(database, sealer, path),
    'owner',
  );
  print(`Detached ${name}. When the file is stored safely: DROP TABLE ${name};`);
}

async function run(
  { before, to, detach }: { before?: string; to?: string; detach?: string },
  print: Print,
): Promise<void> {
  const at = (path: string) => resolve(callersFolder('audit:archive'), path);
  if (detach !== undefined && before === undefined && to === undefined) {
    await detachArchive(readEnvironment(readAuditProof), at(detach), print);
  } else if (detach === undefined && to !== undefined && /^\d{4}-(0[1-9]|1[0-2])$/.test(before ?? '')) {
    const [storage, keys] = [readEnvironment(readStorage), readEnvironment(readSecretsKeys)];
    await archiveMonths(storage, keys, before!, at(to), print);
  } else throw new UsageError('needs --before YYYY-MM and --to FOLDER, or --detach FILE');
}

if (isProgram(import.meta.url)) {
  // Hides the service's informational log lines, which Nest would print among the command's output.
  Logger.overrideLogger(['warn', 'error']);
  await runCommand(COMMAND, run);
}
