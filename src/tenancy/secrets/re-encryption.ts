import type { Actor } from '../../audit/actor.js';
import type { Audit, Record } from '../../audit/audit.service.js';
import { lockedSecrets, replaceSecrets, type SealedSecrets } from './sealed-secret.store.js';
import type { IdentifiedSecret, SecretBox, SecretPlace } from './secret-box.js';
import { nounOf } from '../tenant.js';

/**
 * Encrypts every tenant's secrets with the current `SECRETS_KEY` in the current format, in one transaction: all or
 * none. Instances that have both keys continue to decrypt. Its audit entry is sealed with the current key and so covers
 * all entries that were sealed with the previous one.
 * @returns the number of tenants with changed secrets, and of all tenants @throws Error if a secret can be decrypted
 * with neither key
 */
export async function reEncrypt(
  actor: Actor,
  audit: Audit,
  secretBox: SecretBox,
): Promise<{ resealed: number; tenants: number }> {
  return audit.change(actor, async ({ query }, record) => {
    const tenants = await lockedSecrets(query);
    const renewals = tenants
      .filter((tenant) => !isCurrent(tenant, secretBox))
      .map((tenant) => renewed(tenant, secretBox));
    for (const { sealed } of renewals) await replaceSecrets(query, sealed);
    for (const renewal of renewals) await recordNewIds(renewal, record);
    const after = { keyId: secretBox.keyId, resealed: renewals.length, tenants: tenants.length };
    if (renewals.length > 0 || !(await audit.isSealedWithPresentKey(query))) {
      await record({ action: 'secrets.re-encrypt', target: 'tenants', after });
    }
    return { resealed: renewals.length, tenants: tenants.length };
  });
}

/** A tenant's secrets, encrypted again. */
interface Renewal {
  readonly before: SealedSecrets;
  readonly sealed: SealedSecrets;
  readonly current: IdentifiedSecret;
  readonly previous?: IdentifiedSecret;
}

function isCurrent({ sealedSecret, previousSealedSecret: previous }: SealedSecrets, box: SecretBox): boolean {
  return box.isCurrent(sealedSecret) && (previous === null || box.isCurrent(previous));
}

/** @throws Error if a secret can be decrypted with neither key */
function renewed(before: SealedSecrets, box: SecretBox): Renewal {
  const { id, sealedSecret, previousSealedSecret } = before;
  const currentPlace: SecretPlace = { tenantId: id, column: 'current' };
  const previousPlace: SecretPlace = { tenantId: id, column: 'previous' };
  try {
    const current = box.identify(currentPlace, sealedSecret);
    const sealed = { ...before, sealedSecret: box.seal(currentPlace, current) };
    if (previousSealedSecret === null) return { before, sealed, current };
    const previous = box.identify(previousPlace, previousSealedSecret);
    const previousSealed = box.seal(previousPlace, previous);
    return { before, sealed: { ...sealed, previousSealedSecret: previousSealed }, current, previous };
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(
      `the secret of ${id} cannot be decrypted: ${reason}; rotate it, or set the key that decrypts it`,
      {
        cause: error,
      },
    );
  }
}

/** A secret of the earlier format gets its id here, so that `audit:verify` knows which one is stored. */
async function recordNewIds({ before, current, previous }: Renewal, record: Record): Promise<void> {
  const hadIds = [before.sealedSecret, before.previousSealedSecret].every((text) => !text?.startsWith('v1.'));
  if (hadIds) return;
  const noun = nounOf(before.kind);
  await record({
    action: `${noun}.reseal-secret`,
    target: `${noun}:${before.id}`,
    after: {
      secretId: current.secretId,
      ...(previous && {
        previousSecretId: previous.secretId,
        previousValidUntil: before.previousValidUntil,
      }),
    },
  });
}
