import type { Query } from '../../database/database.js';
import type { TenantKind } from '../tenant.js';

/** A tenant's stored secrets. No entity has them; all statements on them are here. */
export interface SealedSecrets {
  readonly id: string;
  readonly kind: TenantKind;
  readonly sealedSecret: string;
  readonly previousSealedSecret: string | null;
  readonly previousValidUntil: Date | null;
}

/** The first statement of a transaction whose reads all see the same snapshot. */
const ONE_MOMENT = {
  name: 'sealed_secret_one_moment',
  text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
};

const COLUMNS = `
  id, kind, sealed_secret AS "sealedSecret", previous_sealed_secret AS "previousSealedSecret",
  previous_valid_until AS "previousValidUntil"`;

const ALL = { name: 'sealed_secret_all', text: `SELECT ${COLUMNS} FROM tenants ORDER BY id` };

const LOCKED = { name: 'sealed_secret_locked', text: `${ALL.text} FOR UPDATE` };

const LOCKED_ONE = {
  name: 'sealed_secret_locked_one',
  text: `SELECT ${COLUMNS} FROM tenants WHERE kind = $1 AND id = $2 FOR UPDATE`,
};

const REPLACE = {
  name: 'sealed_secret_replace',
  text: 'UPDATE tenants SET sealed_secret = $2, previous_sealed_secret = $3 WHERE id = $1',
};

const ROTATE = {
  name: 'sealed_secret_rotate',
  text: `
    UPDATE tenants
       SET sealed_secret = $2, previous_sealed_secret = $3,
           previous_valid_until =
             CASE WHEN $3::text IS NOT NULL THEN statement_timestamp() + make_interval(secs => $4) END,
           updated_at = statement_timestamp()
     WHERE id = $1
    RETURNING coalesce(previous_valid_until, updated_at) AS "previousValidUntil"`,
};

const EARLIER_FORMAT_ONLY = {
  name: 'sealed_secret_earlier_format_only',
  text: `
    SELECT EXISTS (SELECT FROM tenants)
       AND NOT EXISTS (SELECT FROM tenants WHERE sealed_secret LIKE 'v2.%') AS "earlierFormatOnly"`,
};

/** Every tenant's encrypted secrets, by id. Later reads of the transaction see the same snapshot. */
export async function secretsOfOneMoment(query: Query): Promise<SealedSecrets[]> {
  await query(ONE_MOMENT, []);
  return query<SealedSecrets>(ALL, []);
}

/** Selects every tenant FOR UPDATE, by id. */
export function lockedSecrets(query: Query): Promise<SealedSecrets[]> {
  return query<SealedSecrets>(LOCKED, []);
}

/** Selects the tenant FOR UPDATE. */
export async function lockedSecretsOf(
  query: Query,
  kind: TenantKind,
  id: string,
): Promise<SealedSecrets | undefined> {
  return (await query<SealedSecrets>(LOCKED_ONE, [kind, id]))[0];
}

/** Replaces both encrypted texts. @param query the transaction that holds the tenant's lock */
export async function replaceSecrets(
  query: Query,
  { id, sealedSecret, previousSealedSecret }: Omit<SealedSecrets, 'kind' | 'previousValidUntil'>,
): Promise<void> {
  await query(REPLACE, [id, sealedSecret, previousSealedSecret]);
}

/**
 * Replaces both secrets; the previous one begins its overlap by the database's clock.
 * @param query the transaction that holds the tenant's lock
 * @returns until when the previous secret is valid; now if there is none
 */
export async function rotateSecrets(
  query: Query,
  tenant: Pick<SealedSecrets, 'id' | 'sealedSecret' | 'previousSealedSecret'>,
  overlapSeconds: number,
): Promise<Date> {
  const values = [tenant.id, tenant.sealedSecret, tenant.previousSealedSecret, overlapSeconds];
  const [row] = await query<{ previousValidUntil: Date }>(ROTATE, values);
  return row!.previousValidUntil;
}

/** Whether there are tenants and every current secret has the format of an earlier version. */
export async function isEarlierFormatOnly(query: Query): Promise<boolean> {
  const [row] = await query<{ earlierFormatOnly: boolean }>(EARLIER_FORMAT_ONLY, []);
  return row!.earlierFormatOnly;
}
