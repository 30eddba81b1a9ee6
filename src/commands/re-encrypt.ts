import { Logger } from '@nestjs/common';
import { realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { restateArchives } from '../audit/archive/archiving.js';
import { auditOver } from '../audit/audit.service.js';
import { Sealer } from '../audit/sealer.js';
import { verifyAudit } from '../audit/verification.js';
import { readSecretsKeys, readStorage, type Storage } from '../config/configuration.js';
import { readEnvironment } from '../config/environment.js';
import type { SecretsKeys } from '../config/keys.js';
import { Randomness } from '../runtime/randomness.js';
import { tolerateBrokenOutput } from '../runtime/standard-streams.js';
import { reEncrypt } from '../tenancy/secrets/re-encryption.js';
import { SecretBox } from '../tenancy/secrets/secret-box.js';
import { withServiceDatabase } from './service-database.js';

/**
 * Encrypts all stored secrets with `SECRETS_KEY` in the current format, including those under `SECRETS_KEY_PREVIOUS`.
 * The service may be running. The command may be repeated: secrets already in this form are left unchanged. The command
 * verifies the log first, because the seal of its own audit entry covers the whole log under the current key. Finally,
 * it appends the record of each archive to the log again, unless the current key already seals it.
 * @throws Error if the audit log is invalid, or a secret can be decrypted with neither key: no secret is changed then
 * @throws Error if the archives could not be recorded again; the secrets are already re-encrypted then
 */
export async function reEncryptSecrets(
  storage: Storage,
  keys: SecretsKeys,
  print: (line: string) => void,
): Promise<void> {
  const box = new SecretBox(keys.secretsKey, new Randomness(), keys.secretsKeyPrevious);
  const sealer = new Sealer(keys);
  const actor = { actor: `command:re-encrypt:${userInfo().username}`, role: 'command' };
  await withServiceDatabase(storage, async (database) => {
    const verdict = await verifyAudit(database, { sealer });
    if (verdict.kind === 'broken') {
      throw new Error(
        `the audit log is broken at ${verdict.at}: ${verdict.reason}; see npm run audit:verify`,
      );
    }
    const audit = auditOver(database, sealer);
    const { resealed, tenants } = await reEncrypt(actor, audit, box);
    print(
      `Re-encrypted the secrets of ${resealed} of ${tenants} tenants; all secrets now use key ${box.keyId}.`,
    );
    await restateArchives(database, audit, sealer, actor);
  });
}

/** Exit status 2: the command failed. It can be repeated. */
async function main(): Promise<void> {
  tolerateBrokenOutput();
  // Hides the service's informational log lines, which Nest would print among the command's output.
  Logger.overrideLogger(['warn', 'error']);
  try {
    const print = (line: string) => process.stdout.write(`${line}\n`);
    await reEncryptSecrets(readEnvironment(readStorage), readEnvironment(readSecretsKeys), print);
  } catch (error) {
    process.stderr.write(`secrets:re-encrypt failed: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}

if (realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main();
