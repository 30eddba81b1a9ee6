import { groupStatement } from '../database/group-statement.js';
import { lookUp, UNMERGED } from '../database/planner.js';
import { BY_PLATFORM_ID, claimOf, claimOfWins, moveRoundsOf } from './claim.sql.js';
import { FROM_ROUND, IS_STANDING_BET, ROUND_VERSION, sessionBehind } from './transaction.sql.js';

/*
 * The SQL of the shortcut for new BETs and WINs. It repeats conditions of the rules; a comment at each condition names
 * its rule. That only an unused id is booked (rules/attempt.ts, `decide`) is ensured by the primary key.
 * test/rules/fresh-claim.test.ts verifies that `decide` would book every request that these statements claim.
 */

const BET = {
  providerId: 'text',
  transactionId: 'text',
  tokenHash: 'bytea',
  playerRef: 'text',
  gameId: 'text',
  roundId: 'text',
  platformTransactionId: 'uuid',
  currency: 'text',
  amountMinor: 'bigint',
  roundClosed: 'boolean',
  originalTransactionId: 'text',
  freeSpinsRef: 'text',
  leaseSeconds: 'integer',
};
const WIN = { ...BET, winKind: 'text', promotionRef: 'text' };

// The conditions on item `a`, its session `s` and its round `r`.

/** rules/attempt.ts, `decide`: the session is live, belongs to the provider and agrees with the request. */
const IN_OWN_LIVE_SESSION = `
  s."providerId" = a.provider_id AND s."endedSecondsAgo" IS NULL
  AND s."playerRef" = a.player_ref AND s."gameId" = a.game_id AND s.currency = a.currency`;

/** rules/attempt.ts, `decide`: a BET needs an active game and an active operator. */
const GAME_AND_OPERATOR_ACTIVE = `s."gameActive" AND s."operatorActive"`;

/** rules/bet.ts, `decideBet`: the stake does not exceed the session's highest. */
const STAKE_ALLOWED = `(a.amount_minor > s."maxBetMinor") IS NOT TRUE`;

/** Whether the round has a BET that meets the condition. It reads no further than the first, as a round may have many. */
const hasBet = (condition: string) =>
  `${lookUp('true', `${FROM_ROUND} AND ${condition} LIMIT 1`)} IS NOT NULL`;

/**
 * rules/win.ts, `decideWin`: the WIN does not depend on BETs, or its round has a BET that is APPROVED and not being
 * rolled back, or its round has no BET. DECLINED BETs do not count.
 */
const WIN_MAY_BE_BOOKED = `
  (a.free_spins_ref IS NOT NULL OR a.win_kind <> 'GAME'
   OR r.bet_stands OR NOT ${hasBet(`t.kind = 'BET' AND t.state <> 'DECLINED'`)})`;

/** The columns of a claim that the request does not have. */
const claimedAs = (kind: 'BET' | 'WIN') => `
  '${kind}' AS kind, s."operatorId" AS operator_id, s."sessionId" AS session_id, s.mode, NULL AS verdict,
  NULL AS decline_reason`;

/** Claims a new BET whose session, game and operator allow it. */
export const CLAIM_NEW_BET = groupStatement(
  'transaction_claim_bet',
  BET,
  (items) =>
    // The conditions stay out of the look-up, so that the session is always found by the index on tokens.
    claimOf(`
      SELECT a.*, ${claimedAs('BET')}, NULL AS win_kind, NULL AS promotion_ref
        FROM (${items}) a JOIN LATERAL (${sessionBehind('a.token_hash')} ${UNMERGED}) s ON true
       WHERE ${IN_OWN_LIVE_SESSION} AND ${GAME_AND_OPERATOR_ACTIVE} AND ${STAKE_ALLOWED}`),
  BY_PLATFORM_ID,
);

/**
 * Claims a new WIN that its session and its round allow, and increments the round's version. Does neither if another
 * claim has changed that version since this statement read it.
 */
export const CLAIM_NEW_WIN = groupStatement(
  'transaction_claim_new_win',
  WIN,
  (items) => `
    WITH bookable AS MATERIALIZED (
      SELECT a.*, ${claimedAs('WIN')}, r.version AS round_version, r.bet_stands
        FROM (${items}) a
        JOIN LATERAL (${sessionBehind('a.token_hash')} ${UNMERGED}) s ON true
        JOIN LATERAL (SELECT ${hasBet(IS_STANDING_BET)} AS bet_stands, ${ROUND_VERSION} AS version ${UNMERGED}) r ON true
       WHERE ${IN_OWN_LIVE_SESSION} AND ${WIN_MAY_BE_BOOKED}
         AND ${lookUp('true', `FROM transactions t WHERE t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id`)} IS NULL
    ), round AS (
      ${moveRoundsOf('bookable')}
    ), claim AS (
      ${claimOfWins('bookable')}
    )
    SELECT claim.*, bookable.bet_stands AS "standsOnBet"
      FROM claim JOIN bookable ON bookable.platform_transaction_id = claim.platform_transaction_id`,
  BY_PLATFORM_ID,
);
