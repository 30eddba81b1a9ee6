import type { Actor } from '../../audit/actor.js';
import type { Audit, RecordEntry } from '../../audit/audit.service.js';
import type { TargetEntry } from '../../audit/entry.js';
import type { Database, Query } from '../../database/database.js';
import { failureText } from '../../runtime/failure-text.js';
import {
  lockSecrets,
  replaceSecrets,
  secretsInSnapshot,
  type EncryptedSecrets,
} from './encrypted-secret.store.js';
import type { IdentifiedSecret, SecretBox, SecretPlace } from './secret-box.js';
import { auditTargetOf, nounOf } from '../tenant.js';

/**
 * Re-encrypts the tenants' secrets in one transaction, so that all have the current `SECRETS_KEY` and format. Instances
 * that have both keys continue to decrypt. The audit entry is sealed with the current key; through the hash chain, this
 * seal also covers the entries that were sealed with the previous key. Entries that name a tenant's secrets under the
 * previous key are appended again under the current one.
 * @returns the number of tenants whose secrets were re-encrypted, and the number of all tenants
 * @throws Error if a secret can be decrypted with neither key
 */
export async function reEncrypt(
  actor: Actor,
  audit: Audit,
  secretBox: SecretBox,
): Promise<{ resealed: number; tenants: number }> {
  return audit.change(actor, async ({ query }, record) => {
    const tenants = await lockSecrets(query);
    const renewals = tenants
      .filter((tenant) => !isCurrent(tenant, secretBox))
      .map((tenant) => renew(tenant, secretBox));
    for (const { encrypted } of renewals) await replaceSecrets(query, encrypted);
    for (const renewal of renewals) await recordNewIds(renewal, record);
    await repeatSecretEntries(query, audit, record, ({ keyId }) => keyId !== secretBox.keyId);
    const after = { keyId: secretBox.keyId, resealed: renewals.length, tenants: tenants.length };
    if (renewals.length > 0 || !(await audit.isSealedWithCurrentKey(query))) {
      await record({ action: 'secrets.re-encrypt', target: 'tenants', after });
    }
    return { resealed: renewals.length, tenants: tenants.length };
  });
}

/**
 * Decrypts every secret that `reEncrypt` would encrypt again. Changes nothing.
 * @returns what `reEncrypt` would return
 * @throws Error if a secret can be decrypted with neither key
 */
export async function previewReEncryption(
  database: Database,
  secretBox: SecretBox,
): Promise<{ resealed: number; tenants: number }> {
  const tenants = await database.transaction(({ query }) => secretsInSnapshot(query));
  const renewals = tenants.filter((tenant) => !isCurrent(tenant, secretBox));
  for (const tenant of renewals) renew(tenant, secretBox);
  return { resealed: renewals.length, tenants: tenants.length };
}

/** A tenant's secrets, encrypted again. */
interface Renewal {
  readonly before: EncryptedSecrets;
  readonly encrypted: EncryptedSecrets;
  readonly current: IdentifiedSecret;
  readonly previous?: IdentifiedSecret;
}

function isCurrent(
  { encryptedSecret, previousEncryptedSecret: previous }: EncryptedSecrets,
  box: SecretBox,
): boolean {
  return box.isCurrent(encryptedSecret) && (previous === null || box.isCurrent(previous));
}

/** @throws Error if a secret can be decrypted with neither key */
function renew(before: EncryptedSecrets, box: SecretBox): Renewal {
  const { id, encryptedSecret, previousEncryptedSecret } = before;
  const currentPlace: SecretPlace = { tenantId: id, column: 'current' };
  const previousPlace: SecretPlace = { tenantId: id, column: 'previous' };
  try {
    const current = box.identify(currentPlace, encryptedSecret);
    const encrypted = { ...before, encryptedSecret: box.encrypt(currentPlace, current) };
    if (previousEncryptedSecret === null) return { before, encrypted, current };
    const previous = box.identify(previousPlace, previousEncryptedSecret);
    encrypted.previousEncryptedSecret = box.encrypt(previousPlace, previous);
    return { before, encrypted, current, previous };
  } catch (error) {
    const reason = failureText(error);
    throw new Error(
      `the secret of ${id} cannot be decrypted: ${reason}; rotate it, or set the key that decrypts it`,
      { cause: error },
    );
  }
}

/** Records the ids that secrets of the earlier format received, so that `audit:verify` can recognise them. */
async function recordNewIds({ before, current, previous }: Renewal, record: RecordEntry): Promise<void> {
  const hadIds = [before.encryptedSecret, before.previousEncryptedSecret].every(
    (text) => !text?.startsWith('v1.'),
  );
  if (hadIds) return;
  await record({
    action: `${nounOf(before.kind)}.reseal-secret`,
    target: auditTargetOf(before),
    after: {
      secretId: current.secretId,
      ...(previous && {
        previousSecretId: previous.secretId,
        previousValidUntil: before.previousValidUntil,
      }),
    },
  });
}

/**
 * Appends the last audit entry about each tenant's secrets again, if `verifySecrets` will not find it any more. The lock
 * on the tenants prevents a rotation meanwhile. The log must have been verified.
 * @param willBeLost whether the entry is about to be archived, or its seal's key about to be destroyed
 */
export async function repeatSecretEntries(
  query: Query,
  audit: Audit,
  record: RecordEntry,
  willBeLost: (entry: TargetEntry) => boolean,
): Promise<void> {
  const targets = (await lockSecrets(query)).map(auditTargetOf);
  const entries = await audit.newestWith(query, targets, 'secretId');
  for (const { target, after } of entries.filter(willBeLost)) {
    const { secretId, previousSecretId, previousValidUntil } = after;
    const [noun] = target.split(':');
    await record({
      action: `${noun}.repeat-secret`,
      target,
      after: { secretId, previousSecretId, previousValidUntil },
    });
  }
}
