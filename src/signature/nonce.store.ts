import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Clock } from '../runtime/clock.js';

/** Expired rows that a claim sweeps away at most, so that the table stays as small as the window. */
const SWEPT_ROWS = 10;

const CLAIM = {
  name: 'nonce_claim',
  text: `
    WITH swept AS (
      DELETE FROM nonces WHERE (tenant_id, nonce) IN (
        SELECT tenant_id, nonce FROM nonces WHERE expires_at < $4
         ORDER BY expires_at LIMIT ${SWEPT_ROWS} FOR UPDATE SKIP LOCKED)
    )
    INSERT INTO nonces (tenant_id, nonce, expires_at) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING
    RETURNING nonce`,
};

/** Nonces that outlive the process. */
@Injectable()
export class NonceStore {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async claim(tenantId: string, nonce: string, rememberSeconds: number): Promise<boolean> {
    const now = this.clock.now();
    const expiresAt = new Date(now.getTime() + rememberSeconds * 1000);
    const rows = await this.database.query(CLAIM, [tenantId, nonce, expiresAt, now]);
    return rows.length === 1;
  }
}
