import { Logger } from '@nestjs/common';
import { userInfo } from 'node:os';
import { auditEntryOf } from '../audit/archive/archive.js';
import { archivesToRestate } from '../audit/archive/archiving.js';
import { auditOver } from '../audit/audit.service.js';
import { Sealer } from '../audit/sealer.js';
import { requireValidAudit } from '../audit/verification.js';
import { readSecretsKeys, readStorage, type Storage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import type { SecretsKeys } from '../config/keys.js';
import { Randomness } from '../runtime/randomness.js';
import { previewReEncryption, reEncrypt } from '../tenancy/secrets/re-encryption.js';
import { SecretBox } from '../tenancy/secrets/secret-box.js';
import { isProgram, type Print, runCommand } from '../runtime/command-line.js';
import { withServiceDatabase } from './service-database.js';

const COMMAND = {
  name: 'secrets:re-encrypt',
  help: `npm run secrets:re-encrypt [-- --dry-run]

Encrypts all stored secrets with SECRETS_KEY, including those under SECRETS_KEY_PREVIOUS. The service may be running. It
may be repeated.

  --dry-run   verifies the audit log, decrypts every secret and says how many would be re-encrypted; changes nothing

Exit status 0: done; 2: the command failed.`,
  options: { 'dry-run': { type: 'boolean' } },
} as const;

/**
 * Re-encrypts the secrets and records the archives again. The command may be repeated: secrets already in the current
 * format are left unchanged. It verifies the log first, because the seal of its own audit entry covers the whole log
 * under the current key.
 * @throws Error if the audit log is invalid, or a secret can be decrypted with neither key: no secret is changed then
 * @throws Error if the archives could not be recorded again; the secrets are already re-encrypted then
 */
export async function reEncryptSecrets(storage: Storage, keys: SecretsKeys, print: Print): Promise<void> {
  const box = new SecretBox(keys, new Randomness());
  const sealer = new Sealer(keys);
  const actor = { actor: `command:re-encrypt:${userInfo().username}`, role: 'command' };
  await withServiceDatabase(storage, async (database) => {
    await requireValidAudit(database, sealer);
    const audit = auditOver(database, sealer);
    const { resealed, tenants } = await reEncrypt(actor, audit, box);
    print(
      `Re-encrypted the secrets of ${resealed} of ${tenants} tenants; all secrets now use key ${box.keyId}.`,
    );
    const archives = await archivesToRestate(database, sealer, ({ seal }) => seal?.keyId !== sealer.keyId);
    for (const archive of archives) await audit.record(actor, auditEntryOf(archive));
  });
}

/**
 * Says what `reEncryptSecrets` would do, after the same checks. Changes nothing.
 * @throws Error as `reEncryptSecrets`
 */
export async function previewSecrets(storage: Storage, keys: SecretsKeys, print: Print): Promise<void> {
  const box = new SecretBox(keys, new Randomness());
  await withServiceDatabase(storage, async (database) => {
    await requireValidAudit(database, new Sealer(keys));
    const { resealed, tenants } = await previewReEncryption(database, box);
    print(`Would re-encrypt the secrets of ${resealed} of ${tenants} tenants with key ${box.keyId}.`);
    print('Nothing was changed.');
  });
}

if (isProgram(import.meta.url)) {
  // Hides the service's informational log lines, which Nest would print among the command's output.
  Logger.overrideLogger(['warn', 'error']);
  await runCommand(COMMAND, (values, print) => {
    const [storage, keys] = [readEnvironment(readStorage), readEnvironment(readSecretsKeys)];
    return values['dry-run'] ? previewSecrets(storage, keys, print) : reEncryptSecrets(storage, keys, print);
  });
}
