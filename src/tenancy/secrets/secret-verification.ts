import type { Audit } from '../../audit/audit.service.js';
import { placeText, type TargetEntry } from '../../audit/entry.js';
import type { Database } from '../../database/database.js';
import { failureText } from '../../runtime/failure-text.js';
import { type EncryptedSecrets, secretsInSnapshot } from './encrypted-secret.store.js';
import type { SecretBox, SecretPlace } from './secret-box.js';
import { auditTargetOf, nounOf } from '../tenant.js';

/** A stored secret that contradicts the audit log, has an id but no entry there, or cannot be decrypted. */
interface StaleSecret {
  readonly noun: 'provider' | 'operator';
  readonly id: string;
  readonly column: SecretPlace['column'];
  readonly reason: string;
  /** The contradicting entry of the log, as `DAY/POSITION`; `not in the log` if no entry names the secret. */
  readonly recordedAt: string;
}

export interface SecretReport {
  readonly stale: readonly StaleSecret[];
  /** Number of tenants with a secret that the log names, that has an id, or that cannot be decrypted. */
  readonly identified: number;
  /** Number of the other tenants. Their secrets have no id, usually because an earlier version stored them. */
  readonly notIdentified: number;
}

/**
 * Compares the ids of the stored secrets with the audit log, which the caller must have verified. The id of a secret
 * that somebody restored from a backup differs from the last one in the log.
 */
export async function verifySecrets(database: Database, audit: Audit, box: SecretBox): Promise<SecretReport> {
  const { tenants, entries } = await database.transaction(async ({ query }) => {
    const stored = await secretsInSnapshot(query);
    return { tenants: stored, entries: await audit.newestWith(query, stored.map(auditTargetOf), 'secretId') };
  });
  const recorded = new Map(entries.map((entry) => [entry.target, entry]));
  const identified = tenants.filter((tenant) => recorded.has(auditTargetOf(tenant)));
  const others = tenants.filter((tenant) => !recorded.has(auditTargetOf(tenant)));
  const unnamed = others.flatMap((tenant) => unnamedSecret(tenant, box));
  return {
    stale: [
      ...identified.flatMap((tenant) => staleSecrets(tenant, recorded.get(auditTargetOf(tenant))!, box)),
      ...unnamed,
    ],
    identified: identified.length + unnamed.length,
    notIdentified: others.length - unnamed.length,
  };
}

/** @param entry the log's last entry about the tenant's secrets */
function staleSecrets(stored: EncryptedSecrets, entry: TargetEntry, box: SecretBox): StaleSecret[] {
  const { id, kind, encryptedSecret, previousEncryptedSecret, previousValidUntil } = stored;
  const { secretId, previousSecretId, previousValidUntil: recordedEnd } = entry.after;
  const stale = (column: SecretPlace['column'], reason: string | undefined): StaleSecret[] =>
    reason === undefined ? [] : [{ noun: nounOf(kind), id, column, reason, recordedAt: placeText(entry) }];
  const judge = (column: SecretPlace['column'], encrypted: string, recordedId: unknown) =>
    staleness(box, { tenantId: id, column }, encrypted, (storedId) =>
      // A text in the earlier format has no id, so the log cannot name it.
      storedId !== undefined && storedId === recordedId ? undefined : 'it is a different secret',
    );

  const current = stale('current', judge('current', encryptedSecret, secretId));
  if (previousEncryptedSecret === null) return current;
  const otherEnd =
    instantText(previousValidUntil) === recordedEnd ? undefined : 'its validity ends at another time';
  const reason = judge('previous', previousEncryptedSecret, previousSecretId) ?? otherEnd;
  return [...current, ...stale('previous', reason)];
}

/** PostgreSQL's infinity, which pg does not parse as a Date, equals no instant of the log. */
function instantText(instant: Date | null): string {
  return instant instanceof Date ? instant.toISOString() : String(instant);
}

/**
 * Reports the current secret of a tenant without an entry in the log, if the secret has an id or cannot be decrypted. A
 * secret with an id had an entry: the entry was removed, or the tenant was renamed.
 */
function unnamedSecret({ id, kind, encryptedSecret }: EncryptedSecrets, box: SecretBox): StaleSecret[] {
  const reason = staleness(box, { tenantId: id, column: 'current' }, encryptedSecret, (secretId) =>
    secretId === undefined
      ? undefined
      : 'it has an id, and no entry of the log with a seal of a known key names one for this tenant',
  );
  if (reason === undefined) return [];
  return [{ noun: nounOf(kind), id, column: 'current', reason, recordedAt: 'not in the log' }];
}

/** Why a stored secret is stale, judged by its id or because it cannot be decrypted; undefined if it is not. */
function staleness(
  box: SecretBox,
  place: SecretPlace,
  encrypted: string,
  judge: (secretId: string | undefined) => string | undefined,
): string | undefined {
  try {
    return judge(box.decrypt(place, encrypted).secretId);
  } catch (error) {
    return `it cannot be decrypted: ${failureText(error)}`;
  }
}
