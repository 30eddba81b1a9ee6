import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class Administration1764000000003 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(KEYS);
    await runner.query(AUDIT);
  }
}

/** A revoked key keeps its row, because the audit log names keys by their ids. */
const KEYS = `
CREATE TABLE admin_keys (
  id            uuid PRIMARY KEY,
  name          text NOT NULL,
  role          text NOT NULL CHECK (role IN ('admin', 'promotions', 'support')),
  key_hash      bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  created_at    timestamptz(3) NOT NULL,
  last_used_at  timestamptz(3),
  revoked_at    timestamptz(3)
);
CREATE INDEX admin_keys_live ON admin_keys (created_at, id) WHERE revoked_at IS NULL;
`;

/**
 * The inserting statement says what happened; the trigger sets the place in the chain, the time and the hash, so that
 * no statement can insert outside of the chain. The lock serialises appends until they commit. src/audit/chain.ts
 * computes the same hashes to verify them.
 */
const AUDIT = `
CREATE TABLE audit_entries (
  day            date NOT NULL,
  position       integer NOT NULL CHECK (position > 0),
  created_at     timestamptz(3) NOT NULL,
  actor          text NOT NULL,
  role           text NOT NULL,
  action         text NOT NULL,
  target         text NOT NULL,
  before         json,
  after          json,
  address        text,
  request_id     text,
  previous_hash  bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  hash           bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  PRIMARY KEY (day, position)
);
CREATE INDEX audit_entries_created_at ON audit_entries (created_at);
CREATE INDEX audit_entries_actor ON audit_entries (actor, day, position);
CREATE INDEX audit_entries_action ON audit_entries (action, day, position);
CREATE INDEX audit_entries_target ON audit_entries (target, day, position);

CREATE FUNCTION audit_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT clock_timestamp()';

CREATE FUNCTION audit_moment(moment timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- SHA-256 over all fields. Each field is written as its length in bytes, a colon and its text, or as a hyphen if it is
-- null, so that different lists of fields never result in the same input.
CREATE FUNCTION audit_digest(VARIADIC fields text[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT sha256(convert_to(string_agg(coalesce(octet_length(convert_to(field, 'UTF8')) || ':' || field, '-'), E'\\n' ORDER BY place), 'UTF8'))
    FROM unnest(fields) WITH ORDINALITY AS f (field, place)
$$;

CREATE FUNCTION audit_chain() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last audit_entries;
BEGIN
  PERFORM pg_advisory_xact_lock(7300003);
  SELECT * INTO last FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1;
  -- If the clock was set back, the entry gets the time of the last entry.
  NEW.created_at := greatest(date_trunc('milliseconds', audit_now()), last.created_at);
  NEW.day := (NEW.created_at AT TIME ZONE 'UTC')::date;
  IF last.day IS NULL THEN
    NEW.position := 1;
    NEW.previous_hash := audit_digest('croupier audit', 'beginning');
  ELSIF last.day = NEW.day THEN
    NEW.position := last.position + 1;
    NEW.previous_hash := last.hash;
  ELSE
    NEW.position := 1;
    NEW.previous_hash := audit_digest('croupier audit', 'day', last.day::text, last.position::text,
                                      encode(last.hash, 'hex'));
  END IF;
  NEW.hash := audit_digest('croupier audit', 'entry', encode(NEW.previous_hash, 'hex'), NEW.day::text,
    NEW.position::text, audit_moment(NEW.created_at), NEW.actor, NEW.role, NEW.action, NEW.target,
    NEW.before::text, NEW.after::text, NEW.address, NEW.request_id);
  RETURN NEW;
END $$;
CREATE TRIGGER audit_entries_chain BEFORE INSERT ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION audit_chain();

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();
`;
