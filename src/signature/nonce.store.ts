import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { named } from '../database/statement.js';

/** Each claim deletes up to this number of expired rows, so that the table does not keep growing. */
const SWEPT_ROWS = 10;

const CLAIM = named(
  'nonce_claim',
  `
    WITH swept AS (
      DELETE FROM nonces WHERE (tenant_id, nonce) IN (
        SELECT tenant_id, nonce FROM nonces WHERE expires_at < statement_timestamp()
         ORDER BY expires_at LIMIT ${SWEPT_ROWS} FOR UPDATE SKIP LOCKED)
    )
    INSERT INTO nonces (tenant_id, nonce, expires_at) VALUES (:tenantId, :nonce, statement_timestamp() + make_interval(secs => :rememberSeconds))
    ON CONFLICT DO NOTHING
    RETURNING nonce`,
);

/** Keeps nonces in the database, where they survive a restart. */
@Injectable()
export class NonceStore {
  constructor(private readonly database: Database) {}

  /** @returns false if the nonce was used before */
  async claim(tenantId: string, nonce: string, rememberSeconds: number): Promise<boolean> {
    const rows = await this.database.query(CLAIM, { tenantId, nonce, rememberSeconds });
    return rows.length === 1;
  }
}
