import type { MigrationInterface, QueryRunner } from 'typeorm';

export class HealthAndPauses1764000000016 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PAUSES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE pauses');
  }
}

/** At most one pause of each operator, provider and game. One that is over stays until it is replaced or removed. */
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
