import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Runs without a transaction, so that no lock of `tenants` or `free_spin_grants` is held while a statement waits for
 * another table or reads all rows. Each step can be repeated.
 */
export class GuardRails1764000000013 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CURRENCIES);
    await runner.query(LIMITS);
    await runner.query(APPROVERS);
    await runner.query(APPROVALS);
    await runner.query(GRANTS);
    await runner.query('ALTER TABLE free_spin_grants VALIDATE CONSTRAINT free_spin_grants_named');
    await runner.query('ALTER TABLE free_spin_batches ADD COLUMN IF NOT EXISTS game_id text');
    await runner.query(GAMES_OF_BATCHES);
    for (const [name, columns] of Object.entries(INDEXES_OF_BATCHES)) {
      await indexConcurrently(runner, name, `free_spin_batches ${columns}`);
    }
  }
}

/** The list may not be empty, because an empty list would refuse every currency. NULL accepts all currencies. */
const CURRENCIES = `
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS currencies text[] CHECK (cardinality(currencies) > 0);
`;

/**
 * The amounts, in minor units, above which a grant, batch or adjustment needs a second person's approval, or a WIN is
 * flagged. NULL means no limit.
 */
const LIMITS = `
CREATE TABLE IF NOT EXISTS limits (
  operator_id           text NOT NULL REFERENCES tenants (id),
  currency              text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  max_grant_minor       bigint CHECK (max_grant_minor BETWEEN 0 AND 9007199254740991),
  max_batch_minor       bigint CHECK (max_batch_minor BETWEEN 0 AND 9007199254740991),
  max_adjustment_minor  bigint CHECK (max_adjustment_minor BETWEEN 0 AND 9007199254740991),
  daily_minor           bigint CHECK (daily_minor BETWEEN 0 AND 9007199254740991),
  max_win_minor         bigint CHECK (max_win_minor BETWEEN 0 AND 9007199254740991),
  updated_at            timestamptz NOT NULL,
  PRIMARY KEY (operator_id, currency),
  CHECK (num_nonnulls(max_grant_minor, max_batch_minor, max_adjustment_minor, daily_minor, max_win_minor) > 0)
);
CREATE OR REPLACE TRIGGER limits_changed AFTER INSERT OR UPDATE OR DELETE ON limits
  FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();

-- WINs that were above max_win_minor when the operator was called. A WIN within the limit has no row.
CREATE TABLE IF NOT EXISTS wins_above_limit (
  provider_id     text NOT NULL,
  transaction_id  text NOT NULL,
  limit_minor     bigint NOT NULL,
  PRIMARY KEY (provider_id, transaction_id)
);
`;

/** Requesters must not approve their own actions with keys that they have created, directly or through other keys. */
const APPROVERS = 'ALTER TABLE admin_keys ADD COLUMN IF NOT EXISTS created_by text';

/** Requests for a second person's approval of an action, and the decisions. */
const APPROVALS = `
CREATE TABLE IF NOT EXISTS approvals (
  approval_id      uuid PRIMARY KEY,
  state            text NOT NULL CHECK (state IN ('WAITING', 'APPROVED', 'REJECTED', 'EXPIRED')),
  kind             text NOT NULL,
  reference        text NOT NULL,
  deed             json NOT NULL,
  fingerprint      bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  operator_id      text NOT NULL REFERENCES tenants (id),
  currency         text NOT NULL,
  amount_minor     bigint NOT NULL CHECK (abs(amount_minor) <= 9007199254740991),
  limit_name       text,
  limit_minor      bigint,
  used_minor       bigint,
  asked_by         text NOT NULL,
  asked_by_name    text,
  expires_at       timestamptz NOT NULL,
  decided_by       text,
  decided_by_name  text,
  decided_at       timestamptz,
  reason           text,
  failure_code     text,
  failure_error    text,
  created_at       timestamptz NOT NULL,
  CHECK ((state IN ('APPROVED', 'REJECTED')) = (decided_by IS NOT NULL)),
  CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
  CHECK (failure_code IS NULL OR state = 'APPROVED'),
  CHECK ((failure_code IS NULL) = (failure_error IS NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS approvals_waiting ON approvals (kind, reference) WHERE state = 'WAITING';
CREATE INDEX IF NOT EXISTS approvals_expiring ON approvals (expires_at) WHERE state = 'WAITING';
CREATE INDEX IF NOT EXISTS approvals_by_time ON approvals (created_at, approval_id);
CREATE INDEX IF NOT EXISTS approvals_of_state ON approvals (state, created_at, approval_id);
CREATE INDEX IF NOT EXISTS approvals_of_operator ON approvals (operator_id, created_at, approval_id);
`;

/**
 * A grant that is cancelled before it is sent has no externalRef. `request_id` and `cancel_request_id` are the ids of
 * the requests that queued the grant callback and the cancel callback. `cancel_due` means that a cancel of the grant
 * has been requested, and that its outcome has not been recorded yet. `carried_out_at` is the time of the last resend,
 * from which a grant counts towards the daily limit; NULL means `created_at`.
 */
const GRANTS = `
ALTER TABLE free_spin_grants
  ADD COLUMN IF NOT EXISTS carried_out_at timestamptz,
  ADD COLUMN IF NOT EXISTS cancel_due boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS request_id text,
  ADD COLUMN IF NOT EXISTS cancel_request_id text,
  DROP CONSTRAINT IF EXISTS free_spin_grants_check1,
  DROP CONSTRAINT IF EXISTS free_spin_grants_named,
  ADD CONSTRAINT free_spin_grants_named CHECK (
    (state = 'GRANTED') <= (external_ref IS NOT NULL) AND (external_ref IS NOT NULL) <= (state IN ('GRANTED', 'CANCELLED'))) NOT VALID;
`;

const GAMES_OF_BATCHES = `
UPDATE free_spin_batches b SET game_id = (SELECT game_id FROM free_spin_grants g WHERE g.batch_id = b.batch_id LIMIT 1)
 WHERE game_id IS NULL;
`;

const INDEXES_OF_BATCHES = {
  free_spin_batches_by_time: '(created_at, batch_id)',
  free_spin_batches_of_operator: '(operator_id, created_at, batch_id)',
  free_spin_batches_of_game: '(game_id, created_at, batch_id)',
};
