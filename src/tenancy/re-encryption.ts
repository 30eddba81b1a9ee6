import type { Actor } from '../audit/actor.js';
import type { Audit } from '../audit/audit.service.js';
import { lockedSecrets, replaceSecrets } from './sealed-secret.store.js';
import type { SecretBox } from './secret-box.js';

/**
 * Seals every tenant's secrets with the present `SECRETS_KEY`, in one transaction: all of them, or none. Instances
 * that know both keys read on without a pause. Its entry in the audit log is sealed with the present key and so vouches
 * for all entries that were sealed with the previous one.
 * @returns how many tenants were sealed anew, and how many there are
 * @throws Error where a secret opens with neither key
 */
export async function reEncrypt(
  actor: Actor,
  audit: Audit,
  secretBox: SecretBox,
): Promise<{ resealed: number; tenants: number }> {
  return audit.change(actor, async (query, record) => {
    const tenants = await lockedSecrets(query);
    const renewed = (id: string, sealed: string) => {
      try {
        return secretBox.isCurrent(sealed) ? sealed : secretBox.seal(id, secretBox.open(id, sealed));
      } catch (error) {
        throw new Error(`the secret of ${id} does not open: ${(error as Error).message}`, { cause: error });
      }
    };
    let resealed = 0;
    for (const { id, sealedSecret, previousSealedSecret: previous } of tenants) {
      const present = {
        id,
        sealedSecret: renewed(id, sealedSecret),
        previousSealedSecret: previous === null ? null : renewed(id, previous),
      };
      if (present.sealedSecret === sealedSecret && present.previousSealedSecret === previous) continue;
      await replaceSecrets(query, present);
      resealed += 1;
    }
    const after = { keyId: secretBox.keyId, resealed, tenants: tenants.length };
    if (resealed > 0 || !(await audit.isSealedWithPresentKey(query)))
      await record({ action: 'secrets.re-encrypt', target: 'tenants', after });
    return { resealed, tenants: tenants.length };
  });
}
