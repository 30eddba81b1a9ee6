import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the provider to revocations, and an index by which the unsent ones of a provider are found, however many of
 * another one wait. A trigger sets the provider in rows of the previous release, and in a row of before this migration
 * that becomes unsent again; sent rows need none.
 *
 * The next release can drop the index session_revocations_unsent, by which the previous release finds unsent ones.
 *
 * Runs without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one. Each step can be repeated.
 */
export class RevocationsInTurn1764000000058 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const step of [COLUMN, FUNCTION, TRIGGER, SET_STORED]) await runner.query(step);
    await indexConcurrently(runner, 'session_revocations_unsent_in_turn', UNSENT_IN_TURN);
  }
}

const COLUMN = 'ALTER TABLE session_revocations ADD COLUMN IF NOT EXISTS provider_id text';

const FUNCTION = `
CREATE OR REPLACE FUNCTION set_provider_of_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.provider_id := (SELECT provider_id FROM sessions WHERE session_id = NEW.session_id);
  RETURN NEW;
END $$`;

const TRIGGER = `
CREATE OR REPLACE TRIGGER session_revocations_provider BEFORE INSERT OR UPDATE ON session_revocations
  FOR EACH ROW WHEN (NOT NEW.sent AND NEW.provider_id IS NULL) EXECUTE FUNCTION set_provider_of_revocation()`;

const SET_STORED = `
UPDATE session_revocations r SET provider_id = s.provider_id
  FROM sessions s WHERE NOT r.sent AND r.provider_id IS NULL AND s.session_id = r.session_id`;

const UNSENT_IN_TURN = 'session_revocations (provider_id, lease_until) WHERE NOT sent';
