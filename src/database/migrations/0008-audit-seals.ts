import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class AuditSeals1764000000008 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SEALS);
  }
}

/**
 * A seal authenticates an entry of the audit log and all entries before it, under a key that the database does not
 * have: see src/audit/sealer.ts. Seals are numbered without gaps, so that a missing seal is noticed. There is no
 * foreign key to the entry, because a seal without its entry shows that the log was cut off.
 */
const SEALS = `
CREATE TABLE audit_seals (
  number    bigint PRIMARY KEY CHECK (number > 0),
  day       date NOT NULL,
  position  integer NOT NULL CHECK (position > 0),
  key_id    text NOT NULL CHECK (key_id ~ '^[0-9a-f]{8}$'),
  mac       bytea NOT NULL CHECK (octet_length(mac) = 32),
  UNIQUE (day, position)
);
-- A seal with a far too high number, or for an entry that does not exist yet, would make all later seals of the
-- service fail. A gap of up to 1,000,000 is accepted: if seals are removed, an instance continues from the highest
-- number that it knows, and audit:verify reports the gap.
CREATE FUNCTION audit_seal_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.number > audit_last_seal() + 1000000
     OR NOT EXISTS (SELECT FROM audit_entries e WHERE e.day = NEW.day AND e.position = NEW.position) THEN
    RAISE EXCEPTION 'a seal follows the one before it and belongs to an entry of the audit log';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_seals_follow BEFORE INSERT ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION audit_seal_follows();
CREATE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

-- Volatile, so that it sees what was committed while the calling INSERT waited for the lock of audit_chain().
CREATE FUNCTION audit_last_seal() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(max(number), 0) FROM audit_seals
$$;
`;
