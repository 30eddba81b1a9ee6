import type { Audit, RecordEntry } from '../../audit/audit.service.js';
import type { Query } from '../../database/database.js';
import { nounOf } from '../tenant.js';
import { lockSecrets } from './encrypted-secret.store.js';

/**
 * Repeats the last audit entry about each tenant's secrets if that entry is about to be archived, because
 * `verifySecrets` does not read archives. The lock on the tenants prevents a rotation meanwhile.
 * @param before the first day that stays in the log
 */
export async function repeatSecretEntries(
  query: Query,
  audit: Audit,
  record: RecordEntry,
  before: string,
): Promise<void> {
  const targets = (await lockSecrets(query)).map(({ kind, id }) => `${nounOf(kind)}:${id}`);
  const entries = await audit.newestWith(query, targets, 'secretId');
  for (const { target, day, after } of entries) {
    if (day >= before) continue;
    const { secretId, previousSecretId, previousValidUntil } = after;
    const [noun] = target.split(':');
    await record({
      action: `${noun}.repeat-secret`,
      target,
      after: { secretId, previousSecretId, previousValidUntil },
    });
  }
}
