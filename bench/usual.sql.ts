import { CURRENCY, GAME_ID, OPERATOR_ID, PROVIDER_ID, SESSIONS } from './world.js';

/** $1: the number of sessions. Each lasts a day, and only the digest of its token is stored. */
export const SEED_SESSIONS = `
  INSERT INTO "sessions"
    ("id", "tokenHash", "providerId", "operatorId", "playerRef", "gameId", "currency", "mode", "expiresAt")
  SELECT gen_random_uuid(), encode(sha256(convert_to('token-' || i, 'UTF8')), 'hex'),
    '${PROVIDER_ID}', '${OPERATOR_ID}', 'player-' || i, '${GAME_ID}', '${CURRENCY}', 'REAL',
    now() + interval '1 day'
  FROM generate_series(0, $1::int - 1) AS i`;

/**
 * $1: the prefix of the ids, $2: the number of BETs. They are finished and have the fingerprint that a replay is
 * compared with.
 */
export const SEED_BETS = `
  WITH "bets" AS MATERIALIZED (
    SELECT i, gen_random_uuid() AS "id", $1::text || '-bet-' || i AS "transactionId",
      $1::text || '-round-' || i AS "roundId", 'player-' || i % ${SESSIONS} AS "playerRef"
    FROM generate_series(0, $2::int - 1) AS i
  )
  INSERT INTO "transactions"
    ("providerId", "transactionId", "platformTransactionId", "operatorId", "kind", "playerRef", "gameId",
     "currency", "amountMinor", "roundId", "fingerprint", "state", "responseBody")
  SELECT '${PROVIDER_ID}', "transactionId", "id", '${OPERATOR_ID}', 'BET', "playerRef", '${GAME_ID}',
    '${CURRENCY}', 100, "roundId",
    encode(sha256(convert_to(concat_ws(E'\\n', 'BET', '100', '${CURRENCY}', "playerRef", '${GAME_ID}', "roundId",
      '${OPERATOR_ID}', 'REAL'), 'UTF8')), 'hex'),
    'APPROVED',
    '{"transactionId":"' || "transactionId" || '","platformTransactionId":"' || "id" ||
      '","status":"APPROVED","balance":100000,"currency":"${CURRENCY}"}'
  FROM "bets"`;
