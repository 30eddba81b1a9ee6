import type { Query } from '../../database/database.js';
import { READ_SNAPSHOT } from '../../database/read-snapshot.js';
import { named } from '../../database/statement.js';
import type { TenantKind } from '../tenant.js';

/**
 * A tenant's stored secrets. Only the statements in this file read or replace secrets; entities are read without them.
 * `TenantStore` inserts the secret of a new tenant.
 */
export interface EncryptedSecrets {
  readonly id: string;
  readonly kind: TenantKind;
  readonly encryptedSecret: string;
  readonly previousEncryptedSecret: string | null;
  readonly previousValidUntil: Date | null;
}

const COLUMNS = `
  id, kind, sealed_secret AS "encryptedSecret", previous_sealed_secret AS "previousEncryptedSecret",
  previous_valid_until AS "previousValidUntil"`;

const ALL = named('encrypted_secret_all', `SELECT ${COLUMNS} FROM tenants ORDER BY id`);

/** Rows that refer to a tenant, such as a new session, can still be inserted, unlike with FOR UPDATE. */
const LOCK = 'FOR NO KEY UPDATE';

const LOCKED = named('encrypted_secret_locked', `${ALL.text} ${LOCK}`);

const LOCKED_ONE = named(
  'encrypted_secret_locked_one',
  `SELECT ${COLUMNS} FROM tenants WHERE kind = :kind AND id = :id ${LOCK}`,
);

const REPLACE = named(
  'encrypted_secret_replace',
  `UPDATE tenants
      SET sealed_secret = :encryptedSecret, previous_sealed_secret = :previousEncryptedSecret WHERE id = :id`,
);

const ROTATE = named(
  'encrypted_secret_rotate',
  `UPDATE tenants
      SET sealed_secret = :encryptedSecret, previous_sealed_secret = :previousEncryptedSecret,
          previous_valid_until =
            CASE WHEN :previousEncryptedSecret::text IS NOT NULL
                 THEN statement_timestamp() + make_interval(secs => :overlapSeconds) END,
          updated_at = statement_timestamp()
    WHERE id = :id
   RETURNING coalesce(previous_valid_until, updated_at) AS "previousValidUntil"`,
);

/** Reads every tenant's encrypted secrets, ordered by id. Later reads of the transaction see the same snapshot. */
export async function secretsInSnapshot(query: Query): Promise<EncryptedSecrets[]> {
  await query(READ_SNAPSHOT, {});
  return query<EncryptedSecrets>(ALL, {});
}

/** Selects every tenant FOR NO KEY UPDATE, ordered by id. */
export function lockSecrets(query: Query): Promise<EncryptedSecrets[]> {
  return query<EncryptedSecrets>(LOCKED, {});
}

export async function lockSecretsOf(
  query: Query,
  kind: TenantKind,
  id: string,
): Promise<EncryptedSecrets | undefined> {
  return (await query<EncryptedSecrets>(LOCKED_ONE, { kind, id }))[0];
}

/**
 * Replaces both encrypted texts; the validity of the previous secret does not change.
 * @param query of the transaction that has locked the tenant
 */
export async function replaceSecrets(
  query: Query,
  tenant: Omit<EncryptedSecrets, 'kind' | 'previousValidUntil'>,
): Promise<void> {
  await query(REPLACE, tenant);
}

/**
 * The overlap of the previous secret begins now, by the database's clock.
 * @param query of the transaction that has locked the tenant
 * @returns when the previous secret becomes invalid; now if there is none
 */
export async function rotateSecrets(
  query: Query,
  tenant: Omit<EncryptedSecrets, 'kind' | 'previousValidUntil'>,
  overlapSeconds: number,
): Promise<Date> {
  const [row] = await query<{ previousValidUntil: Date }>(ROTATE, { ...tenant, overlapSeconds });
  return row!.previousValidUntil;
}
