import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Allows `*` as the operator of limits and approvals: the default of the installation, which is not a tenant. Also stores
 * who set a limit, and in which currencies operators have traded. The previous release ignores the new columns and table.
 */
export class LimitsOfInstallation1764000000034 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TRADED_CURRENCIES);
    // Last, because a foreign key's end also locks `tenants`, which every transaction reads, until the commit.
    await runner.query(LIMITS);
  }
}

/**
 * The generated column keeps the foreign key of limits, of which there are few. A generated column of approvals would
 * rewrite that table, so their operator_id loses its foreign key; no tenant is ever deleted.
 */
const LIMITS = `
ALTER TABLE limits
  DROP CONSTRAINT limits_operator_id_fkey,
  ADD COLUMN updated_by text,
  ADD COLUMN tenant_id text GENERATED ALWAYS AS (nullif(operator_id, '*')) STORED REFERENCES tenants (id);
ALTER TABLE approvals DROP CONSTRAINT approvals_operator_id_fkey;
`;

/**
 * The currencies in which each operator has traded, up to an hour old. Trades before this migration are estimated from
 * the newest sessions, because reading all transactions would take too long.
 */
const TRADED_CURRENCIES = `
CREATE TABLE traded_currencies (
  operator_id     text NOT NULL REFERENCES tenants (id),
  currency        text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  last_traded_at  timestamptz NOT NULL,
  PRIMARY KEY (operator_id, currency)
);
INSERT INTO traded_currencies (operator_id, currency, last_traded_at)
SELECT operator_id, currency, max(created_at)
  FROM (SELECT operator_id, currency, created_at, mode FROM sessions
         ORDER BY created_at DESC, session_id DESC LIMIT 100000) s
 WHERE mode = 'REAL' GROUP BY operator_id, currency;
`;
