import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class Foundation1764000000001 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TENANCY);
    await runner.query(SESSIONS);
    await runner.query(TRANSACTIONS);
  }
}

/** Providers and operators share one table, so that an id is unique over both. */
const TENANCY = `
CREATE TABLE tenants (
  id                       text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9._-]{1,64}$' AND id NOT IN ('.', '..', 'platform')),
  kind                     text NOT NULL CHECK (kind IN ('PROVIDER', 'OPERATOR')),
  name                     text NOT NULL,
  status                   text NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE', 'DISABLED')),
  requests_per_second      integer CHECK (requests_per_second > 0),
  webhook_base_url         text,
  late_settlement_seconds  integer CHECK (late_settlement_seconds >= 0),
  wallet_base_url          text,
  wallet_adapter           text,
  wallet_timeout_ms        integer CHECK (wallet_timeout_ms > 0),
  sealed_secret            text NOT NULL,
  previous_sealed_secret   text,
  previous_valid_until     timestamptz,
  created_at               timestamptz NOT NULL,
  updated_at               timestamptz NOT NULL,
  CHECK ((kind = 'PROVIDER') = (webhook_base_url IS NOT NULL)),
  CHECK ((kind = 'PROVIDER') = (late_settlement_seconds IS NOT NULL)),
  CHECK ((kind = 'OPERATOR') = (wallet_base_url IS NOT NULL)),
  CHECK ((kind = 'OPERATOR') = (wallet_adapter IS NOT NULL)),
  CHECK ((previous_sealed_secret IS NULL) = (previous_valid_until IS NULL))
);

CREATE TABLE games (
  game_id      text PRIMARY KEY,
  provider_id  text NOT NULL REFERENCES tenants (id),
  name         text NOT NULL,
  status       text NOT NULL CHECK (status IN ('ACTIVE', 'DISABLED')),
  launch_url   text,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL
);

-- One row whose version increases with every change to the two tables. Instances poll it to detect that their copy is
-- stale.
CREATE TABLE tenancy_version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version bigint NOT NULL);
INSERT INTO tenancy_version (version) VALUES (1);
CREATE FUNCTION tenancy_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tenancy_version SET version = version + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER tenants_changed AFTER INSERT OR UPDATE OR DELETE ON tenants
  FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();
CREATE TRIGGER games_changed AFTER INSERT OR UPDATE OR DELETE ON games
  FOR EACH STATEMENT EXECUTE FUNCTION tenancy_changed();

CREATE TABLE nonces (
  tenant_id   text NOT NULL,
  nonce       text NOT NULL,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, nonce)
);
CREATE INDEX nonces_expires_at ON nonces (expires_at);
`;

const SESSIONS = `
CREATE TABLE sessions (
  session_id     uuid PRIMARY KEY,
  token_hash     bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  operator_id    text NOT NULL REFERENCES tenants (id),
  provider_id    text NOT NULL REFERENCES tenants (id),
  player_ref     text NOT NULL,
  game_id        text NOT NULL REFERENCES games (game_id),
  currency       text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  mode           text NOT NULL CHECK (mode IN ('REAL', 'DEMO')),
  language       text,
  country        text,
  created_at     timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL,
  revoked_at     timestamptz,
  revoke_reason  text CHECK (revoke_reason IN ('KICK', 'SELF_EXCLUSION', 'FRAUD_HOLD', 'OTHER')),
  CHECK ((revoked_at IS NULL) = (revoke_reason IS NULL))
);
CREATE INDEX sessions_live_of_player ON sessions (operator_id, player_ref) WHERE revoked_at IS NULL;
`;

/**
 * A transaction has no foreign key to its session, because each BET would then lock the session's row. A row without a
 * kind is a tombstone: a ROLLBACK came before the transaction that it names.
 */
const TRANSACTIONS = `
CREATE TABLE rounds (
  provider_id  text NOT NULL,
  operator_id  text NOT NULL,
  player_ref   text NOT NULL,
  game_id      text NOT NULL,
  round_id     text NOT NULL,
  mode         text NOT NULL,
  version      bigint NOT NULL,
  PRIMARY KEY (provider_id, round_id, player_ref, game_id, operator_id, mode)
);

CREATE TABLE transactions (
  provider_id              text NOT NULL,
  transaction_id           text NOT NULL,
  platform_transaction_id  uuid NOT NULL,
  kind                     text CHECK (kind IN ('BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT')),
  state                    text NOT NULL
    CHECK (state IN ('PENDING', 'APPROVED', 'DECLINED', 'TIMED_OUT', 'ROLLED_BACK')),
  operator_id              text NOT NULL,
  session_id               uuid,
  mode                     text NOT NULL CHECK (mode IN ('REAL', 'DEMO')),
  player_ref               text NOT NULL,
  game_id                  text,
  currency                 text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  amount_minor             bigint NOT NULL CHECK (abs(amount_minor) <= 9007199254740991),
  round_id                 text,
  round_closed             boolean,
  original_transaction_id  text,
  free_spins_ref           text,
  attempt                  integer NOT NULL CHECK (attempt >= 0),
  attempts                 jsonb NOT NULL DEFAULT '[]',
  lease_until              timestamptz,
  verdict                  text CHECK (verdict IN ('APPROVED', 'DECLINED')),
  decline_reason           text,
  rollback_id              text,
  response_body            text,
  created_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider_id, transaction_id),
  CHECK (amount_minor >= 0 OR kind = 'ADJUSTMENT'),
  CHECK (kind <> 'ROLLBACK' OR original_transaction_id IS NOT NULL),
  CHECK (kind IS NOT NULL OR state = 'ROLLED_BACK'),
  CHECK ((state = 'PENDING') = (lease_until IS NOT NULL)),
  CHECK ((state IN ('APPROVED', 'DECLINED')) <= (response_body IS NOT NULL)),
  CHECK (state <> 'ROLLED_BACK' OR kind IS NULL OR (kind = 'BET' AND rollback_id IS NOT NULL))
);
CREATE INDEX transactions_of_round ON transactions (provider_id, round_id, player_ref);
CREATE INDEX transactions_rollbacks ON transactions (provider_id, original_transaction_id) WHERE kind = 'ROLLBACK';
CREATE INDEX transactions_undecided ON transactions (updated_at) WHERE state IN ('PENDING', 'TIMED_OUT');
`;
