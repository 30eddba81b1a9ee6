import type { Statement } from '../../database/database.js';
import { within } from '../../database/time-ordered.js';
import { placeColumn } from '../../database/place.js';
import type { Mode } from '../../wallet/rules/facts.js';
import { REPORTED } from '../../wallet/transaction.sql.js';
import {
  newestOf,
  type Section,
  type TransactionFilter,
  WHOLE_COLUMNS,
  windowRows,
} from '../transactions/transaction-search.sql.js';
import { openRound } from './open-round.sql.js';
import type { RoundKey } from './round-sums.js';

/** A filter for rounds; an absent field restricts nothing. */
export interface RoundFilter extends Pick<
  TransactionFilter,
  'operatorId' | 'providerId' | 'playerRef' | 'from' | 'to'
> {
  readonly open?: true | undefined;
}

/** Selects one of a provider's rounds that share a roundId. */
export interface RoundChoice {
  readonly operatorId?: string | undefined;
  readonly playerRef?: string | undefined;
  readonly gameId?: string | undefined;
  readonly mode: Mode;
}

/**
 * One page of real-money rounds, ordered by their first BET, newest first.
 *
 * The database does not store whether a round is open, because an index of open rounds would cost a write for each BET.
 * Instead, the statement examines the BETs in one section of the list of transactions, and reads the round of each BET
 * by the index transactions_of_round.
 * @param section the part of the list to examine; `windowEnd` finds where it ends
 */
export function roundPage(
  { open, ...filter }: RoundFilter,
  section: Section,
  limit: number,
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [windowRows(filter)];
  const value = (each: unknown) => `$${values.push(each)}`;
  const source = newestOf(filter, section, value, 'examined');
  const { from, to, operatorId, providerId, playerRef } = filter;
  const wanted = { operator_id: operatorId, provider_id: providerId, player_ref: playerRef };
  const conditions = [
    ...Object.entries(wanted).flatMap(([column, each]) =>
      each === undefined ? [] : [`bet.${column} = ${value(each)}`],
    ),
    // The first BET must be in the section, so that a round is on one page only.
    ...within({ from, to, ...section }, { id: 'platform_transaction_id', idType: 'uuid' }, value),
    ...(open ? ['t.open'] : []),
  ];
  const text = `
    SELECT bet.provider_id AS "providerId", bet.operator_id AS "operatorId", bet.player_ref AS "playerRef",
           bet.game_id AS "gameId", bet.round_id AS "roundId", 'REAL' AS mode, t.open, t.created_at AS "createdAt",
           t.transactions, t.undecided, ${placeColumn('t.created_at', 't.platform_transaction_id')}
      FROM (SELECT DISTINCT t.provider_id, t.operator_id, t.player_ref, t.game_id, t.round_id
              FROM ${source} WHERE t.kind = 'BET' AND t.mode = 'REAL') bet
     CROSS JOIN LATERAL (${ROUND_OF_BET}) t
     ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
     ORDER BY t.created_at DESC, t.platform_transaction_id DESC LIMIT ${value(limit)}`;
  return { statement: { name: '', text }, values };
}

const firstBet = (column: string) =>
  `(array_agg(r.${column} ORDER BY r.created_at, r.platform_transaction_id) FILTER (WHERE r.kind = 'BET'))[1]`;

/**
 * Equality of round, player and provider, written as a range of row values. This form makes the planner use the index
 * transactions_of_round, because no other index begins with these columns.
 */
const SAME_ROUND_AND_PLAYER = ['>=', '<=']
  .map(
    (sign) =>
      `(r.round_id, r.player_ref, r.provider_id) ${sign} (bet.round_id, bet.player_ref, bet.provider_id)`,
  )
  .join(' AND ');

/** The round of `bet`: its first BET, its number of transactions, how many are undecided, and whether it is open. */
const ROUND_OF_BET = `
  SELECT ${firstBet('created_at')} AS created_at, ${firstBet('platform_transaction_id')} AS platform_transaction_id,
         count(*)::int AS transactions,
         count(*) FILTER (WHERE r.state IN ('PENDING', 'TIMED_OUT'))::int AS undecided,
         ${openRound('r')} AS open
    FROM (SELECT * FROM transactions r WHERE ${SAME_ROUND_AND_PLAYER} OFFSET 0) r
   WHERE r.game_id = bet.game_id AND r.operator_id = bet.operator_id AND r.mode = 'REAL'`;

/** At most `limit` of the provider's rounds with this roundId that match the choice, without duplicates. */
export function roundsWithId(
  providerId: string,
  roundId: string,
  { operatorId, playerRef, gameId, mode }: RoundChoice,
  limit: number,
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [providerId, roundId, mode, limit];
  const chosen = { operator_id: operatorId, player_ref: playerRef, game_id: gameId };
  const conditions = Object.entries(chosen).flatMap(([column, wanted]) =>
    wanted === undefined ? [] : [`AND t.${column} = $${values.push(wanted)}`],
  );
  const text = `
    SELECT DISTINCT t.provider_id AS "providerId", t.round_id AS "roundId", t.operator_id AS "operatorId",
           t.player_ref AS "playerRef", t.game_id AS "gameId", t.mode
      FROM (SELECT * FROM transactions t
             WHERE t.provider_id = $1 AND t.round_id = $2 AND t.mode = $3 ${conditions.join(' ')} OFFSET 0) t
     LIMIT $4`;
  return { statement: { name: '', text }, values };
}

/** The oldest transactions of a round. */
const ofRound = (columns: string): string => `
    SELECT ${columns} FROM (
      SELECT * FROM transactions t
       WHERE t.round_id = $1 AND t.player_ref = $2 AND t.provider_id = $3 AND t.operator_id = $4 AND t.game_id = $5
         AND t.mode = $6 OFFSET 0) t
     ORDER BY t.created_at, t.platform_transaction_id LIMIT $7`;

/** The oldest transactions of a round, with all their columns. */
export function transactionsOfRound(
  key: RoundKey,
  limit: number,
): { statement: Statement; values: unknown[] } {
  return { statement: { name: '', text: ofRound(WHOLE_COLUMNS) }, values: valuesOf(key, limit) };
}

/** The oldest transactions of a round, with the fields that determine its sums. */
export function summandsOfRound(key: RoundKey, limit: number): { statement: Statement; values: unknown[] } {
  const columns = `
    t.transaction_id AS "transactionId", t.kind, t.state, t.amount_minor AS "amountMinor", t.currency,
    t.round_closed AS "roundClosed", t.original_transaction_id AS "originalTransactionId",
    t.verdict IS NOT NULL AS "ownVerdict", ${REPORTED} AS "reported"`;
  return { statement: { name: '', text: ofRound(columns) }, values: valuesOf(key, limit) };
}

function valuesOf(key: RoundKey, limit: number): unknown[] {
  const { roundId, playerRef, providerId, operatorId, gameId, mode } = key;
  return [roundId, playerRef, providerId, operatorId, gameId, mode, limit];
}
