import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class FreeSpins1764000000002 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CALLBACKS);
    await runner.query(FREE_SPINS);
    await runner.query(REVOCATIONS);
  }
}

/**
 * One row for each call to a provider, written before the call. While `completed_at` is null, the outcome of the call
 * is unknown.
 */
const CALLBACKS = `
CREATE TABLE callbacks (
  callback_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider_id   text NOT NULL,
  route         text NOT NULL,
  reference     text NOT NULL,
  request_id    text,
  body          text NOT NULL,
  status        integer,
  answer        text,
  error         text,
  duration_ms   integer CHECK (duration_ms >= 0),
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  completed_at  timestamptz,
  CHECK ((completed_at IS NULL) = (duration_ms IS NULL)),
  CHECK (completed_at IS NOT NULL OR (status IS NULL AND answer IS NULL AND error IS NULL)),
  CHECK (completed_at IS NULL OR status IS NOT NULL OR error IS NOT NULL)
);
CREATE INDEX callbacks_by_time ON callbacks (created_at, callback_id);
CREATE INDEX callbacks_of_provider ON callbacks (provider_id, created_at, callback_id);
CREATE INDEX callbacks_of_route ON callbacks (route, created_at, callback_id);
CREATE INDEX callbacks_of_reference ON callbacks (reference);
`;

/**
 * A PENDING grant without a lease waits to be sent or re-sent. `lease_until` belongs to the grant callback under way. A
 * cancel has a lease of its own, because the grant stays GRANTED while it is being cancelled.
 */
const FREE_SPINS = `
CREATE TABLE free_spin_batches (
  batch_id          uuid PRIMARY KEY,
  batch_ref         text UNIQUE,
  operator_id       text NOT NULL REFERENCES tenants (id),
  fingerprint       bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  created_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE free_spin_grants (
  grant_no            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request_ref         text NOT NULL UNIQUE,
  state               text NOT NULL CHECK (state IN ('PENDING', 'GRANTED', 'FAILED', 'CANCELLED')),
  operator_id         text NOT NULL REFERENCES tenants (id),
  provider_id         text NOT NULL REFERENCES tenants (id),
  player_ref          text NOT NULL,
  game_id             text NOT NULL REFERENCES games (game_id),
  spins               integer NOT NULL CHECK (spins BETWEEN 1 AND 1000),
  bet_amount_minor    bigint NOT NULL CHECK (bet_amount_minor BETWEEN 0 AND 9007199254740991),
  currency            text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  attempt             integer NOT NULL CHECK (attempt >= 0),
  lease_until         timestamptz,
  external_ref        text CHECK (external_ref <> ''),
  failure_status      integer,
  failure_error       text,
  outcome_unknown     boolean NOT NULL DEFAULT false,
  remaining_spins     bigint CHECK (remaining_spins BETWEEN 0 AND 9007199254740991),
  completed           boolean,
  status_checked_at   timestamptz,
  cancel_attempt      integer NOT NULL DEFAULT 0,
  cancel_lease_until  timestamptz,
  last_cancel_error   text,
  cancelled_at        timestamptz,
  batch_id            uuid REFERENCES free_spin_batches (batch_id),
  created_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (lease_until IS NULL OR state = 'PENDING'),
  CHECK ((state IN ('GRANTED', 'CANCELLED')) = (external_ref IS NOT NULL)),
  CHECK ((state = 'FAILED') = (failure_error IS NOT NULL)),
  CHECK (failure_status IS NULL OR state = 'FAILED'),
  CHECK (NOT outcome_unknown OR state IN ('PENDING', 'FAILED')),
  CHECK ((state = 'CANCELLED') = (cancelled_at IS NOT NULL)),
  CHECK (cancel_lease_until IS NULL OR state = 'GRANTED'),
  CHECK ((status_checked_at IS NULL) = (remaining_spins IS NULL)),
  CHECK ((status_checked_at IS NULL) = (completed IS NULL))
);
CREATE INDEX free_spin_grants_of_operator ON free_spin_grants (operator_id, grant_no);
CREATE INDEX free_spin_grants_of_provider ON free_spin_grants (provider_id, grant_no);
CREATE INDEX free_spin_grants_of_player ON free_spin_grants (player_ref, grant_no);
CREATE INDEX free_spin_grants_of_state ON free_spin_grants (state, grant_no);
CREATE INDEX free_spin_grants_of_batch ON free_spin_grants (batch_id, grant_no) WHERE batch_id IS NOT NULL;
CREATE INDEX free_spin_grants_external ON free_spin_grants (provider_id, external_ref)
  WHERE external_ref IS NOT NULL;
CREATE INDEX free_spin_grants_unsent ON free_spin_grants (provider_id, grant_no)
  WHERE state = 'PENDING' AND lease_until IS NULL;
CREATE INDEX free_spin_grants_sent ON free_spin_grants (lease_until) WHERE lease_until IS NOT NULL;

CREATE INDEX transactions_of_free_spins ON transactions (provider_id, free_spins_ref)
  WHERE free_spins_ref IS NOT NULL;
CREATE INDEX transactions_of_free_spins_by_time ON transactions (created_at, platform_transaction_id)
  WHERE free_spins_ref IS NOT NULL;
`;

/**
 * One row for each revoked session, with the outcome of its notification. Until `lease_until`, an instance is about to
 * send the notification or is sending it.
 */
const REVOCATIONS = `
CREATE TABLE session_revocations (
  session_id      uuid PRIMARY KEY REFERENCES sessions (session_id),
  revocation_ref  uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  sent            boolean NOT NULL DEFAULT false,
  lease_until     timestamptz,
  delivered       boolean,
  status          integer,
  error           text,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((delivered IS NULL) = (lease_until IS NOT NULL)),
  CHECK (delivered IS NULL OR (sent AND delivered = (error IS NULL)))
);
CREATE INDEX session_revocations_unsent ON session_revocations (lease_until) WHERE NOT sent;
`;
