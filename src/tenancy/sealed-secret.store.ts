import type { Query } from '../database/database.js';

export interface SealedSecrets {
  readonly id: string;
  readonly sealedSecret: string;
  readonly previousSealedSecret: string | null;
}

const LOCKED = {
  name: 'sealed_secret_locked',
  text: `
    SELECT id, sealed_secret AS "sealedSecret", previous_sealed_secret AS "previousSealedSecret"
      FROM tenants ORDER BY id FOR UPDATE`,
};

const REPLACE = {
  name: 'sealed_secret_replace',
  text: 'UPDATE tenants SET sealed_secret = $2, previous_sealed_secret = $3 WHERE id = $1',
};

/** Every sealed secret, as nobody else can change it before this transaction ends. */
export function lockedSecrets(query: Query): Promise<SealedSecrets[]> {
  return query<SealedSecrets>(LOCKED, []);
}

export async function replaceSecrets(query: Query, tenant: SealedSecrets): Promise<void> {
  await query(REPLACE, [tenant.id, tenant.sealedSecret, tenant.previousSealedSecret]);
}
