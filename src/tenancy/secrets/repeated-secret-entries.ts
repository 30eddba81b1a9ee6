import type { Audit, RecordEntry } from '../../audit/audit.service.js';
import type { TargetEntry } from '../../audit/entry.js';
import type { Query } from '../../database/database.js';
import { nounOf } from '../tenant.js';
import { lockSecrets } from './encrypted-secret.store.js';

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
  const targets = (await lockSecrets(query)).map(({ kind, id }) => `${nounOf(kind)}:${id}`);
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
