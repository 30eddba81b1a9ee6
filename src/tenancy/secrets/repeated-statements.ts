import type { Audit, Record } from '../../audit/audit.service.js';
import type { Query } from '../../database/database.js';
import { nounOf } from '../tenant.js';
import { lockedSecrets } from './sealed-secret.store.js';

/**
 * Records the log's last statement about each tenant's secrets again if it is about to be archived, so that
 * `verifySecrets` still finds it. The lock on the tenants excludes a rotation meanwhile.
 * @param before the first day that stays in the log
 */
export async function repeatStatements(
  query: Query,
  audit: Audit,
  record: Record,
  before: string,
): Promise<void> {
  const targets = (await lockedSecrets(query)).map(({ kind, id }) => `${nounOf(kind)}:${id}`);
  const statements = await audit.newestWith(query, targets, 'secretId');
  for (const { target, day, after } of statements) {
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
