import { Injectable } from '@nestjs/common';
import type { RowOf } from '../../api/lists/item.js';
import { Database } from '../../database/database.js';
import { type Place, placeColumn } from '../../database/place.js';
import { UNMERGED } from '../../database/planner.js';
import { READ_SNAPSHOT } from '../../database/read-snapshot.js';
import { named } from '../../database/statement.js';
import { type Section, within } from '../../database/time-ordered.js';
import type { Mode } from '../../wallet/rules/facts.js';
import { type Found, readWindowEnd, type UnnamedStatement } from '../../database/time-window.js';
import { BY_TIME, REPORTED, WIN_KIND } from '../../wallet/transaction.sql.js';
import {
  languageOf,
  newestOf,
  roundDetailsOf,
  type TransactionFilter,
  valuesFor,
  WHOLE_COLUMNS,
  windowEnd,
  windowRows,
} from '../transactions/transaction-search.sql.js';
import type { DeskRow, WholeRow } from '../transactions/transaction-search.store.js';
import { openRound } from './open-round.sql.js';
import type { RoundItem } from './round.admin.response.js';
import type { RoundKey, RoundTransaction } from './round-sums.js';

/** A filter for rounds; an absent field restricts nothing. */
interface RoundFilter extends Pick<
  TransactionFilter,
  'operatorId' | 'providerId' | 'playerRef' | 'gameId' | 'from' | 'to'
> {
  readonly open?: true | undefined;
}

/** Selects one of a provider's rounds that share a roundId. */
interface RoundChoice {
  readonly operatorId?: string | undefined;
  readonly playerRef?: string | undefined;
  readonly gameId?: string | undefined;
  readonly mode: Mode;
}

/**
 * One page of real-money rounds, newest first. A round begins with its first BET or, without one, its first WIN.
 *
 * The database does not store whether a round is open, because an index of open rounds would cost a write for each BET.
 * Instead, the statement examines the BETs and WINs in one section of the list of transactions, and reads the round of
 * each by the index transactions_of_round.
 * @param section the part of the list to examine; `windowEnd` finds where it ends
 * @param rows the number of transactions with which `windowEnd` found it
 */
export function roundPage(
  { open, ...filter }: RoundFilter,
  section: Section,
  limit: number,
  rows = windowRows(filter),
): UnnamedStatement {
  const source = newestOf(filter, section, 'examined');
  const { from, to, operatorId, providerId, playerRef, gameId } = filter;
  const conditions = [
    ...(operatorId === undefined ? [] : ['round.operator_id = :operatorId']),
    ...(providerId === undefined ? [] : ['round.provider_id = :providerId']),
    ...(playerRef === undefined ? [] : ['round.player_ref = :playerRef']),
    // The beginning must be in the section, so that a round is on one page only.
    ...within({ from, to, ...section }, BY_TIME),
    ...(open ? ['t.open'] : []),
  ];
  // An open round has a BET.
  const mayBegin = open ? "t.kind = 'BET'" : "t.kind IN ('BET', 'WIN')";
  const text = `
    SELECT round.provider_id AS "providerId", round.operator_id AS "operatorId", round.player_ref AS "playerRef",
           round.game_id AS "gameId", round.round_id AS "roundId", 'REAL' AS mode, round.open,
           round.created_at AS "createdAt", round.transactions, round.undecided, round.currency, ${REPORTED_COLUMNS},
           round.transaction_id AS "transactionId", round.session_id AS "sessionId", ${languageOf('round')} AS language,
           ${roundDetailsOf('round')} AS "roundDetailsTemplate",
           ${placeColumn('round.created_at', 'round.platform_transaction_id')}
      FROM (SELECT round.*, t.*
              FROM (SELECT DISTINCT t.provider_id, t.operator_id, t.player_ref, t.game_id, t.round_id FROM ${source}
                     WHERE ${mayBegin} AND t.mode = 'REAL' ${gameId === undefined ? '' : 'AND t.game_id = :gameId'}) round
             CROSS JOIN LATERAL (${WHOLE_ROUND}) t
             ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
             ORDER BY t.created_at DESC, t.platform_transaction_id DESC LIMIT :limit) round
     CROSS JOIN LATERAL (${REPORTED_SUMS}) reported
     ORDER BY round.created_at DESC, round.platform_transaction_id DESC`;
  const values = { ...valuesFor(filter, section), rows, limit };
  return { statement: named('', text), values };
}

/** A column of the transaction that began the round. */
const ofBeginning = (column: string) => `
  (array_agg(r.${column} ORDER BY r.kind = 'BET' DESC, r.created_at, r.platform_transaction_id)
     FILTER (WHERE r.kind IN ('BET', 'WIN')))[1]`;

/** A column of the round's first BET; NULL without any. */
const ofFirstBet = (column: string) =>
  `(array_agg(r.${column} ORDER BY r.created_at, r.platform_transaction_id) FILTER (WHERE r.kind = 'BET'))[1]`;

/** Reads the index transactions_of_round. */
const SAME_ROUND_AND_PLAYER =
  'r.round_id = round.round_id AND r.player_ref = round.player_ref AND r.provider_id = round.provider_id';

/** When and how `round` began, its number of transactions, how many are undecided, and whether it is open. */
const WHOLE_ROUND = `
  SELECT ${ofBeginning('created_at')} AS created_at, ${ofBeginning('platform_transaction_id')} AS platform_transaction_id,
         ${ofFirstBet('transaction_id')} AS transaction_id, ${ofFirstBet('session_id')} AS session_id,
         ${ofBeginning('currency')} AS currency,
         count(*)::int AS transactions,
         count(*) FILTER (WHERE r.state IN ('PENDING', 'TIMED_OUT'))::int AS undecided,
         ${openRound('r')} AS open
    FROM (SELECT * FROM transactions r WHERE ${SAME_ROUND_AND_PLAYER} ${UNMERGED}) r
   WHERE r.game_id = round.game_id AND r.operator_id = round.operator_id AND r.mode = 'REAL'`;

/** The transactions of `round` in its currency, with the outcome that the provider received last. */
const REPORTED_OF_ROUND = `
  SELECT t.kind, t.transaction_id, t.original_transaction_id, t.amount_minor, ${REPORTED} AS reported
    FROM (SELECT * FROM transactions r WHERE ${SAME_ROUND_AND_PLAYER} ${UNMERGED}) t
   WHERE t.game_id = round.game_id AND t.operator_id = round.operator_id AND t.mode = 'REAL'
     AND t.currency = round.currency
   ${UNMERGED}`;

/**
 * The sums of `round` according to the answers that the provider received: the same rule as `told` of `sumsOf` in
 * round-sums.ts. Each group has one transaction and the ROLLBACKs that name it.
 */
const REPORTED_SUMS = `
  SELECT coalesce(sum(bet_minor), 0) AS bet_minor, coalesce(sum(win_minor), 0) AS win_minor
    FROM (SELECT sum(amount_minor) FILTER (WHERE kind = 'BET' AND reported = 'APPROVED') AS bet_minor,
                 sum(amount_minor) FILTER (WHERE kind = 'WIN' AND reported = 'APPROVED') AS win_minor
            FROM (${REPORTED_OF_ROUND}) t
           GROUP BY CASE kind WHEN 'ROLLBACK' THEN original_transaction_id ELSE transaction_id END
          HAVING NOT coalesce(bool_or(kind = 'ROLLBACK' AND reported = 'APPROVED'), false)) transaction`;

/** A sum outside ±(2^53−1) is null. */
const exactSumSql = (sum: string) =>
  `CASE WHEN abs(${sum}) <= ${Number.MAX_SAFE_INTEGER} THEN (${sum})::float8 END`;
const REPORTED_COLUMNS = `
  ${exactSumSql('reported.bet_minor')} AS "betMinor", ${exactSumSql('reported.win_minor')} AS "winMinor",
  ${exactSumSql('reported.win_minor - reported.bet_minor')} AS "netMinor"`;

/** At most `limit` of the provider's rounds with this roundId that match the choice, without duplicates. */
export function roundsWithId(
  providerId: string,
  roundId: string,
  choice: RoundChoice,
  limit: number,
): UnnamedStatement {
  const conditions = [
    ...(choice.operatorId === undefined ? [] : ['AND t.operator_id = :operatorId']),
    ...(choice.playerRef === undefined ? [] : ['AND t.player_ref = :playerRef']),
    ...(choice.gameId === undefined ? [] : ['AND t.game_id = :gameId']),
  ];
  const text = `
    SELECT DISTINCT t.provider_id AS "providerId", t.round_id AS "roundId", t.operator_id AS "operatorId",
           t.player_ref AS "playerRef", t.game_id AS "gameId", t.mode
      FROM (SELECT * FROM transactions t
             WHERE t.provider_id = :providerId AND t.round_id = :roundId AND t.mode = :mode ${conditions.join(' ')}
             ${UNMERGED}) t
     LIMIT :limit`;
  return { statement: named('', text), values: { ...choice, providerId, roundId, limit } };
}

/** The oldest transactions of a round. Without a name, so that it is planned for its values. */
const ofRound = (columns: string) =>
  named(
    '',
    `
    SELECT ${columns} FROM (
      SELECT * FROM transactions t
       WHERE t.round_id = :roundId AND t.player_ref = :playerRef AND t.provider_id = :providerId
         AND t.operator_id = :operatorId AND t.game_id = :gameId AND t.mode = :mode ${UNMERGED}) t
     ORDER BY t.created_at, t.platform_transaction_id LIMIT :limit`,
  );

export const TRANSACTIONS_OF_ROUND = ofRound(WHOLE_COLUMNS);

/** The fields that determine the sums of a round. */
export const SUMMANDS_OF_ROUND = ofRound(`
    t.transaction_id AS "transactionId", t.kind, ${WIN_KIND} AS "winKind", t.state, t.amount_minor AS "amountMinor", t.currency,
    t.round_closed AS "roundClosed", t.original_transaction_id AS "originalTransactionId",
    t.verdict IS NOT NULL AS "ownVerdict", ${REPORTED} AS "reported"`);

/** Number of transactions that a page examines first for each of its rounds. */
const EXAMINED_FIRST = 6;

/** A round in a page. `transactionId` and the session's fields are those of its first BET. */
export interface RoundRow
  extends RowOf<Omit<RoundItem, 'roundDetailsUrl'>>, Pick<DeskRow, 'roundDetailsTemplate' | 'language'> {
  readonly transactionId: string | null;
  readonly sessionId: string | null;
  readonly place: string;
}

/** Reads rounds for the desk. */
@Injectable()
export class RoundStore {
  constructor(private readonly database: Database) {}

  /**
   * One page of rounds, newest first. The page may be short or empty, because it examines a bounded number of
   * transactions. It first examines a few, which most pages need, because it reads the round of each.
   */
  page(filter: RoundFilter, before: Place | undefined, limit: number): Promise<Found<RoundRow>> {
    return this.database.transaction(async ({ query }) => {
      // Without it, rows that are inserted after the window was found would push others out of it, onto no page.
      await query(READ_SNAPSHOT, {});
      const examine = async (transactions: number): Promise<Found<RoundRow>> => {
        const downTo = await readWindowEnd(query, windowEnd(filter, before, transactions));
        const { statement, values } = roundPage(filter, { before, downTo }, limit, transactions);
        return { rows: await query<RoundRow>(statement, values), downTo };
      };
      const most = windowRows(filter);
      const few = Math.min(most, EXAMINED_FIRST * limit);
      const found = await examine(few);
      const isWhole = found.rows.length === limit || !found.downTo || few === most;
      return isWhole ? found : examine(most);
    });
  }

  /** At most `limit` of the provider's rounds with this roundId that match the choice. */
  withId(providerId: string, roundId: string, choice: RoundChoice, limit: number): Promise<RoundKey[]> {
    const { statement, values } = roundsWithId(providerId, roundId, choice, limit);
    return this.database.query<RoundKey>(statement, values);
  }

  /** Oldest first. */
  transactionsOf(round: RoundKey, limit: number): Promise<WholeRow[]> {
    return this.database.query<WholeRow>(TRANSACTIONS_OF_ROUND, { ...round, limit });
  }

  /** Oldest first. */
  summandsOf(round: RoundKey, limit: number): Promise<RoundTransaction[]> {
    return this.database.query<RoundTransaction>(SUMMANDS_OF_ROUND, { ...round, limit });
  }
}
