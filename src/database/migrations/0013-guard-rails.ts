import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class GuardRails1764000000013 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CURRENCIES);
    await runner.query(LIMITS);
    await runner.query(APPROVALS);
    await runner.query(BATCHES);
  }
}

/** The list may not be empty, because an empty list would refuse every currency. NULL accepts all currencies. */
const CURRENCIES = `
ALTER TABLE tenants ADD COLUMN currencies text[] CHECK (cardinality(currencies) > 0);
`;

/**
 * The amounts, in minor units, above which a grant, batch or adjustment needs a second person's approval, or a WIN is
 * flagged. NULL means no limit.
 */
const LIMITS = `
CREATE TABLE limits (
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
CREATE TRIGGER limits_changed AFTER INSERT OR UPDATE OR DELETE ON limits
  FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();

-- WINs that were above max_win_minor when the operator was called. A WIN within the limit has no row.
CREATE TABLE wins_above_limit (
  provider_id     text NOT NULL,
  transaction_id  text NOT NULL,
  limit_minor     bigint NOT NULL,
  PRIMARY KEY (provider_id, transaction_id)
);

-- The time of a grant's last resend, from which it counts towards the daily limit. NULL means created_at. The index
-- serves the sum of the last 24 hours.
ALTER TABLE free_spin_grants ADD COLUMN carried_out_at timestamptz;
CREATE INDEX free_spin_grants_carried_out
  ON free_spin_grants (operator_id, currency, coalesce(carried_out_at, created_at));
`;

/**
 * Requests for a second person's approval of an action, and the decisions. `admin_keys.created_by` is needed because
 * requesters must not approve their own actions with keys that they have created, directly or through other keys.
 */
const APPROVALS = `
ALTER TABLE admin_keys ADD COLUMN created_by text;

CREATE TABLE approvals (
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
CREATE UNIQUE INDEX approvals_waiting ON approvals (kind, reference) WHERE state = 'WAITING';
CREATE INDEX approvals_expiring ON approvals (expires_at) WHERE state = 'WAITING';
CREATE INDEX approvals_by_time ON approvals (created_at, approval_id);
CREATE INDEX approvals_of_state ON approvals (state, created_at, approval_id);
CREATE INDEX approvals_of_operator ON approvals (operator_id, created_at, approval_id);
`;

/**
 * A grant that is cancelled before it is sent has no externalRef. `request_id` and `cancel_request_id` are the ids of
 * the requests that queued the grant callback and the cancel callback. `cancel_due` means that a cancel of the grant
 * has been requested, and that its outcome has not been recorded yet.
 */
const BATCHES = `
ALTER TABLE free_spin_batches ADD COLUMN game_id text;
UPDATE free_spin_batches b SET game_id = (SELECT game_id FROM free_spin_grants g WHERE g.batch_id = b.batch_id LIMIT 1);
CREATE INDEX free_spin_batches_by_time ON free_spin_batches (created_at, batch_id);
CREATE INDEX free_spin_batches_of_operator ON free_spin_batches (operator_id, created_at, batch_id);
CREATE INDEX free_spin_batches_of_game ON free_spin_batches (game_id, created_at, batch_id);

ALTER TABLE free_spin_grants
  ADD COLUMN cancel_due boolean NOT NULL DEFAULT false,
  ADD COLUMN request_id text,
  ADD COLUMN cancel_request_id text,
  DROP CONSTRAINT IF EXISTS free_spin_grants_check1,
  DROP CONSTRAINT IF EXISTS free_spin_grants_named,
  ADD CONSTRAINT free_spin_grants_named CHECK (
    (state = 'GRANTED') <= (external_ref IS NOT NULL) AND (external_ref IS NOT NULL) <= (state IN ('GRANTED', 'CANCELLED')));
CREATE INDEX free_spin_grants_to_cancel ON free_spin_grants (provider_id, grant_no) WHERE state = 'GRANTED' AND cancel_due;
`;
