import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/** Runs without a transaction, so that `audit_entries` is only locked for a moment. Each step can be repeated. */
export class RolesAndRefusals1764000000009 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ROLES);
    await runner.query(COLUMNS);
    await runner.query('ALTER TABLE audit_entries VALIDATE CONSTRAINT audit_entries_check');
    await indexConcurrently(
      runner,
      'audit_entries_outcome',
      `audit_entries (outcome, day, position) WHERE outcome <> 'done'`,
    );
    await indexConcurrently(runner, 'audit_entries_request_id', 'audit_entries (request_id, day, position)');
    await runner.query(FUNCTIONS);
  }
}

const ROLES = `
ALTER TABLE admin_keys DROP CONSTRAINT admin_keys_role_check,
  ADD CONSTRAINT admin_keys_role_check CHECK (role IN ('admin', 'operations', 'promotions', 'support'));
`;

const COLUMNS = `
ALTER TABLE audit_entries
  ADD COLUMN IF NOT EXISTS actor_name text,
  ADD COLUMN IF NOT EXISTS outcome text,
  DROP CONSTRAINT IF EXISTS audit_entries_check,
  ADD CONSTRAINT audit_entries_check CHECK (outcome IS NOT NULL OR actor_name IS NULL) NOT VALID;
`;

/**
 * If an entry has an outcome, its hash also covers the outcome and the actor's name. The previous version, which may
 * still run, writes entries without an outcome, whose hashes are unchanged. A word in the digest distinguishes the two
 * forms. src/audit/chain.ts computes the same hashes.
 */
const FUNCTIONS = `
CREATE OR REPLACE FUNCTION audit_entry_hash(e audit_entries) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT audit_digest(VARIADIC ARRAY['croupier audit', CASE WHEN e.outcome IS NULL THEN 'entry' ELSE 'entry with outcome' END,
      encode(e.previous_hash, 'hex'), e.day::text, e.position::text, audit_moment(e.created_at), e.actor, e.role,
      e.action, e.target, e.before::text, e.after::text, e.address, e.request_id]
    || CASE WHEN e.outcome IS NULL THEN ARRAY[]::text[] ELSE ARRAY[e.actor_name, e.outcome] END)
$$;

CREATE OR REPLACE FUNCTION audit_chain() RETURNS trigger LANGUAGE plpgsql AS $$
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
  NEW.hash := audit_entry_hash(NEW);
  RETURN NEW;
END $$;
`;
