import { CURRENCY, GAME_ID, OPERATOR_ID, PROVIDER_ID, SESSIONS } from './world.js';

/** $1: the number of sessions. */
export const SEED_SESSIONS = `
INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode, created_at,
                      expires_at)
SELECT gen_random_uuid(), sha256(convert_to('token-' || i, 'UTF8')), '${OPERATOR_ID}', '${PROVIDER_ID}',
       'player-' || i, '${GAME_ID}', '${CURRENCY}', 'REAL', now(), now() + interval '1 day'
  FROM generate_series(0, $1::int - 1) i`;

/** $1: the prefix of the ids; $2: the number of BETs. */
export const SEED_BETS = `
INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, session_id,
                          mode, player_ref, game_id, currency, amount_minor, round_id, attempt, attempts, response_body)
SELECT '${PROVIDER_ID}', $1 || '-bet-' || i, id, 'BET', 'APPROVED', '${OPERATOR_ID}', gen_random_uuid(),
       'REAL', 'player-' || i % ${SESSIONS}, '${GAME_ID}', '${CURRENCY}', 100, $1 || '-round-' || i, 1,
       '[{"attempt":1,"startedAt":"2026-01-01T00:00:00.000Z","durationMs":2,"outcome":"APPROVED","balance":100000}]',
       format('{"transactionId":"%s","platformTransactionId":"%s","status":"APPROVED","balance":100000,"currency":"EUR"}',
              $1 || '-bet-' || i, id)
  FROM generate_series(0, $2::int - 1) i, LATERAL (SELECT gen_random_uuid() AS id WHERE i >= 0) fresh`;
