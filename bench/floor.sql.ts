import { CURRENCY, GAME_ID, OPERATOR_ID, PROVIDER_ID, SESSIONS } from './world.js';

/** The columns and the two indexes that the contract requires. */
export const FLOOR_SCHEMA = `
CREATE TABLE IF NOT EXISTS sessions (
  token_hash   bytea PRIMARY KEY,
  session_id   uuid NOT NULL,
  operator_id  text NOT NULL,
  provider_id  text NOT NULL,
  player_ref   text NOT NULL,
  game_id      text NOT NULL,
  currency     text NOT NULL,
  mode         text NOT NULL,
  expires_at   timestamptz NOT NULL,
  revoked_at   timestamptz
);
CREATE TABLE IF NOT EXISTS transactions (
  provider_id              text NOT NULL,
  transaction_id           text NOT NULL,
  platform_transaction_id  uuid NOT NULL,
  kind                     text NOT NULL,
  state                    text NOT NULL,
  operator_id              text NOT NULL,
  session_id               uuid NOT NULL,
  mode                     text NOT NULL,
  player_ref               text NOT NULL,
  game_id                  text NOT NULL,
  currency                 text NOT NULL,
  amount_minor             bigint NOT NULL,
  round_id                 text NOT NULL,
  attempt                  integer NOT NULL,
  lease_until              timestamptz,
  response_body            text,
  created_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider_id, transaction_id)
);
CREATE INDEX IF NOT EXISTS transactions_of_round ON transactions (provider_id, round_id, player_ref);
`;

/** $1: the number of sessions. */
export const SEED_SESSIONS = `
INSERT INTO sessions (token_hash, session_id, operator_id, provider_id, player_ref, game_id, currency, mode, expires_at)
SELECT sha256(convert_to('token-' || i, 'UTF8')), gen_random_uuid(), '${OPERATOR_ID}', '${PROVIDER_ID}',
       'player-' || i, '${GAME_ID}', '${CURRENCY}', 'REAL', now() + interval '1 day'
  FROM generate_series(0, $1::int - 1) i`;

/** $1: the prefix of the ids; $2: the number of BETs. */
export const SEED_BETS = `
INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, session_id,
                          mode, player_ref, game_id, currency, amount_minor, round_id, attempt, response_body)
SELECT '${PROVIDER_ID}', $1 || '-bet-' || i, id, 'BET', 'APPROVED', '${OPERATOR_ID}', gen_random_uuid(),
       'REAL', 'player-' || i % ${SESSIONS}, '${GAME_ID}', '${CURRENCY}', 100, $1 || '-round-' || i, 1,
       format('{"transactionId":"%s","platformTransactionId":"%s","status":"APPROVED","balance":100000,"currency":"EUR"}',
              $1 || '-bet-' || i, id)
  FROM generate_series(0, $2::int - 1) i, LATERAL (SELECT gen_random_uuid() AS id WHERE i >= 0) fresh`;
