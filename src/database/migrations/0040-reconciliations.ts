import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/** Stores the reports and findings of reconciliations over HTTP. The previous release uses neither table. */
export class Reconciliations1764000000040 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }
}

const TABLES = `
CREATE TABLE reconciliations (
  reconciliation_id  uuid PRIMARY KEY,
  operator_id        text NOT NULL REFERENCES tenants (id),
  range_from         timestamptz NOT NULL,
  range_to           timestamptz NOT NULL,
  lines              integer NOT NULL CHECK (lines >= 0),
  matched            integer NOT NULL CHECK (matched BETWEEN 0 AND lines),
  findings           jsonb NOT NULL,
  findings_stored    integer NOT NULL CHECK (findings_stored >= 0),
  sums               jsonb NOT NULL,
  recorded           jsonb,
  created_at         timestamptz NOT NULL,
  created_by         text NOT NULL,
  created_by_name    text,
  CHECK (range_from < range_to)
);
CREATE INDEX reconciliations_by_time ON reconciliations (created_at, reconciliation_id);
CREATE INDEX reconciliations_of_operator ON reconciliations (operator_id, created_at, reconciliation_id);

-- A finding is written once and only shown as a whole.
CREATE TABLE reconciliation_findings (
  reconciliation_id  uuid NOT NULL REFERENCES reconciliations (reconciliation_id) ON DELETE CASCADE,
  position           integer NOT NULL CHECK (position > 0),
  finding            jsonb NOT NULL,
  PRIMARY KEY (reconciliation_id, position)
);
`;
