import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class HealthAndPauses1764000000016 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PAUSES);
    await runner.query(HEALTH);
  }
}

/**
 * Each operator, provider and game has at most one pause. An ended pause keeps its row until an administrator replaces
 * or removes it.
 */
const PAUSES = `
CREATE TABLE pauses (
  kind       text NOT NULL CHECK (kind IN ('OPERATOR', 'PROVIDER', 'GAME')),
  id         text NOT NULL,
  reason     text NOT NULL CHECK (reason <> ''),
  until      timestamptz,
  paused_at  timestamptz NOT NULL,
  paused_by  text NOT NULL,
  paused_by_name text,
  PRIMARY KEY (kind, id)
);
CREATE TRIGGER pauses_changed AFTER INSERT OR UPDATE OR DELETE ON pauses
  FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();
`;

/**
 * A row has the counts of one instance's calls to one tenant in a period of about ten seconds. The instance updates the
 * row of the current period every two seconds, and then merges it into the row of all instances, whose `instance_id` is
 * zero. Rows are removed after an hour. The table is unlogged: after a crash of PostgreSQL it is empty, and health scores
 * count from zero.
 */
const HEALTH = `
CREATE UNLOGGED TABLE health_periods (
  tenant_id           text NOT NULL,
  started_at          timestamptz NOT NULL,
  instance_id         uuid NOT NULL,
  calls               integer NOT NULL CHECK (calls >= 0),
  succeeded           integer NOT NULL CHECK (succeeded BETWEEN 0 AND calls),
  timeouts            integer NOT NULL CHECK (timeouts BETWEEN 0 AND calls - succeeded),
  latency             integer[] NOT NULL,
  breaker_open_until  timestamptz,
  PRIMARY KEY (tenant_id, started_at, instance_id)
) WITH (fillfactor = 70);
CREATE INDEX health_periods_by_time ON health_periods (started_at);
`;
