import { Injectable } from '@nestjs/common';
import { finishedRoundDetailsUrl, type RoundDetails } from '../../tenancy/round-details-url.js';
import { itemFrom, type RowOf } from '../../api/lists/item.js';
import type { PageOf } from '../../api/lists/page.js';
import { type Found, pageOfWindow } from '../../api/lists/time-page.js';
import { isIdentifier, isUuid } from '../../api/validation/identifier.js';
import { Database } from '../../database/database.js';
import { DatabaseClock } from '../../database/database-clock.js';
import { type Place, placeColumn } from '../../database/place.js';
import { UNMERGED } from '../../database/planner.js';
import { READ_SNAPSHOT } from '../../database/read-snapshot.js';
import { named } from '../../database/statement.js';
import { within } from '../../database/time-ordered.js';
import { CroupierError } from '../../errors/croupier-error.js';
import type { Mode } from '../../wallet/rules/facts.js';
import { readWindowEnd, type UnnamedStatement } from '../../database/time-window.js';
import { REPORTED, WIN_KIND } from '../../wallet/transaction.sql.js';
import {
  languageOf,
  BY_TIME,
  newestOf,
  roundDetailsOf,
  type Section,
  type TransactionFilter,
  valuesFor,
  WHOLE_COLUMNS,
  windowEnd,
  windowRows,
} from '../transactions/transaction-search.sql.js';
import type { DeskRow, WholeRow } from '../transactions/transaction-search.store.js';
import { openRound } from './open-round.sql.js';
import { adviceOf, itemOf } from '../transactions/transaction-story.js';
import type { FindRoundQuery, RoundQuery } from './round.admin.request.js';
import { ROUND_COLUMNS, type RoundDetail, type RoundItem } from './round.admin.response.js';
import { adviceForRound } from './round-advice.js';
import { isOpen, type RoundKey, type RoundTransaction, sumsOf } from './round-sums.js';

/** A filter for rounds; an absent field restricts nothing. */
export interface RoundFilter extends Pick<
  TransactionFilter,
  'operatorId' | 'providerId' | 'playerRef' | 'gameId' | 'from' | 'to'
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
    ...(operatorId === undefined ? [] : ['bet.operator_id = :operatorId']),
    ...(providerId === undefined ? [] : ['bet.provider_id = :providerId']),
    ...(playerRef === undefined ? [] : ['bet.player_ref = :playerRef']),
    // The first BET must be in the section, so that a round is on one page only.
    ...within({ from, to, ...section }, BY_TIME),
    ...(open ? ['t.open'] : []),
  ];
  const text = `
    SELECT bet.provider_id AS "providerId", bet.operator_id AS "operatorId", bet.player_ref AS "playerRef",
           bet.game_id AS "gameId", bet.round_id AS "roundId", 'REAL' AS mode, bet.open, bet.created_at AS "createdAt",
           bet.transactions, bet.undecided, bet.currency, ${TOLD_COLUMNS},
           bet.transaction_id AS "transactionId", bet.session_id AS "sessionId", ${languageOf('bet')} AS language,
           ${roundDetailsOf('bet')} AS "roundDetailsTemplate",
           ${placeColumn('bet.created_at', 'bet.platform_transaction_id')}
      FROM (SELECT bet.*, t.*
              FROM (SELECT DISTINCT t.provider_id, t.operator_id, t.player_ref, t.game_id, t.round_id FROM ${source}
                     WHERE t.kind = 'BET' AND t.mode = 'REAL' ${gameId === undefined ? '' : 'AND t.game_id = :gameId'}) bet
             CROSS JOIN LATERAL (${ROUND_OF_BET}) t
             ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
             ORDER BY t.created_at DESC, t.platform_transaction_id DESC LIMIT :limit) bet
     CROSS JOIN LATERAL (${TOLD_SUMS}) told
     ORDER BY bet.created_at DESC, bet.platform_transaction_id DESC`;
  const values = { ...valuesFor(filter, section), rows, limit };
  return { statement: named('', text), values };
}

const firstBet = (column: string) =>
  `(array_agg(r.${column} ORDER BY r.created_at, r.platform_transaction_id) FILTER (WHERE r.kind = 'BET'))[1]`;

/** Reads the index transactions_of_round. */
const SAME_ROUND_AND_PLAYER =
  'r.round_id = bet.round_id AND r.player_ref = bet.player_ref AND r.provider_id = bet.provider_id';

/** The round of `bet`: its first BET, its number of transactions, how many are undecided, and whether it is open. */
const ROUND_OF_BET = `
  SELECT ${firstBet('created_at')} AS created_at, ${firstBet('platform_transaction_id')} AS platform_transaction_id,
         ${firstBet('transaction_id')} AS transaction_id, ${firstBet('session_id')} AS session_id,
         ${firstBet('currency')} AS currency,
         count(*)::int AS transactions,
         count(*) FILTER (WHERE r.state IN ('PENDING', 'TIMED_OUT'))::int AS undecided,
         ${openRound('r')} AS open
    FROM (SELECT * FROM transactions r WHERE ${SAME_ROUND_AND_PLAYER} ${UNMERGED}) r
   WHERE r.game_id = bet.game_id AND r.operator_id = bet.operator_id AND r.mode = 'REAL'`;

/** The transactions of the round of `bet`, in the currency of its first BET, with the outcome that the provider received last. */
const REPORTED_OF_ROUND = `
  SELECT t.kind, t.transaction_id, t.original_transaction_id, t.amount_minor, ${REPORTED} AS reported
    FROM (SELECT * FROM transactions r WHERE ${SAME_ROUND_AND_PLAYER} ${UNMERGED}) t
   WHERE t.game_id = bet.game_id AND t.operator_id = bet.operator_id AND t.mode = 'REAL' AND t.currency = bet.currency
   ${UNMERGED}`;

/**
 * The sums of the round of `bet` according to the answers that the provider received: the same rule as `told` of
 * `sumsOf` in round-sums.ts. Each group has one transaction and the ROLLBACKs that name it.
 */
const TOLD_SUMS = `
  SELECT coalesce(sum(bet_minor), 0) AS bet_minor, coalesce(sum(win_minor), 0) AS win_minor
    FROM (SELECT sum(amount_minor) FILTER (WHERE kind = 'BET' AND reported = 'APPROVED') AS bet_minor,
                 sum(amount_minor) FILTER (WHERE kind = 'WIN' AND reported = 'APPROVED') AS win_minor
            FROM (${REPORTED_OF_ROUND}) t
           GROUP BY CASE kind WHEN 'ROLLBACK' THEN original_transaction_id ELSE transaction_id END
          HAVING NOT coalesce(bool_or(kind = 'ROLLBACK' AND reported = 'APPROVED'), false)) transaction`;

/** A sum above 2^53−1 is null. */
const exactSum = (sum: string) =>
  `CASE WHEN abs(${sum}) <= ${Number.MAX_SAFE_INTEGER} THEN (${sum})::float8 END`;
const TOLD_COLUMNS = `
  ${exactSum('told.bet_minor')} AS "betMinor", ${exactSum('told.win_minor')} AS "winMinor",
  ${exactSum('told.win_minor - told.bet_minor')} AS "netMinor"`;

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
/** Maximum number of transactions shown for a round. The answer is then about 1 MB long. */
const SHOWN_TRANSACTIONS = 1_000;
/** Maximum number of transactions summed for a round. They then need about 20 MB of memory. */
const SUMMED_TRANSACTIONS = 50_000;

/** A round in a page. `transactionId` and the session's fields are those of its first BET. */
interface RoundRow
  extends RowOf<Omit<RoundItem, 'roundDetailsUrl'>>, Pick<DeskRow, 'roundDetailsTemplate' | 'language'> {
  readonly transactionId: string;
  readonly sessionId: string | null;
  readonly place: string;
}

function roundDetailsUrlOf(
  round: RoundDetails & { readonly roundDetailsTemplate: string | null },
): string | null {
  const { roundDetailsTemplate: template } = round;
  return template === null ? null : finishedRoundDetailsUrl(template, round);
}

/** Rounds for the support desk. Contract, section 9, "Rounds". */
@Injectable()
export class RoundStore {
  constructor(
    private readonly database: Database,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /**
   * One page of rounds, newest first. A round is as old as its first BET.
   * @throws CroupierError INVALID_REQUEST
   */
  list({ open, olderThanMinutes = 0, to, ...query }: RoundQuery): Promise<PageOf<RoundItem>> {
    const { operatorId, providerId, playerRef, gameId, from } = query;
    const oldEnough = new Date(this.databaseClock.now().getTime() - olderThanMinutes * 60_000).toISOString();
    const bounds = [...(to === undefined ? [] : [to]), ...(olderThanMinutes === 0 ? [] : [oldEnough])];
    const filter = {
      operatorId,
      providerId,
      playerRef,
      gameId,
      from,
      to: bounds.sort((left, right) => Date.parse(left) - Date.parse(right))[0],
      ...(open && { open: true as const }),
    };
    return pageOfWindow<RoundRow, RoundItem>(
      query,
      isUuid,
      ({ before, limit }) => this.page(filter, before, limit),
      (row) => itemFrom(ROUND_COLUMNS, { ...row, roundDetailsUrl: roundDetailsUrlOf(row) }),
    );
  }

  /** @throws CroupierError NOT_FOUND · INVALID_REQUEST if several rounds match */
  async detail(
    { providerId, roundId }: Pick<RoundKey, 'providerId' | 'roundId'>,
    { mode = 'REAL', ...choice }: FindRoundQuery,
  ): Promise<RoundDetail> {
    const known = isIdentifier(providerId) && isIdentifier(roundId);
    const { statement, values } = roundsWithId(providerId, roundId, { ...choice, mode }, 2);
    const [key, another] = known ? await this.database.query<RoundKey>(statement, values) : [];
    if (!key) throw new CroupierError('NOT_FOUND', 'no such round');
    if (another) {
      const choices =
        choice.operatorId === undefined ? 'operatorId, playerRef and gameId' : 'playerRef and gameId';
      throw new CroupierError('INVALID_REQUEST', `several rounds have this roundId: specify ${choices}`);
    }
    const { query } = this.database;
    const found = await query<WholeRow>(TRANSACTIONS_OF_ROUND, { ...key, limit: SHOWN_TRANSACTIONS + 1 });
    const rows = found.slice(0, SHOWN_TRANSACTIONS);
    const limit = SUMMED_TRANSACTIONS;
    const summands = await query<RoundTransaction>(SUMMANDS_OF_ROUND, { ...key, limit });
    const open = isOpen(summands);
    const sums = sumsOf(summands);
    const first = rows.find(({ kind }) => kind === 'BET');
    const { currency, roundDetailsTemplate } = first ?? rows[0]!;
    const ids = { sessionId: null, transactionId: null, language: null, ...first, ...key };
    const roundDetailsUrl = roundDetailsUrlOf({ ...ids, roundDetailsTemplate });
    const advised = rows.map((row) => ({ ...row, advice: adviceOf(row, rollbacksOf(row, rows)) }));
    return {
      ...key,
      open,
      currency,
      ...sums.find((each) => each.currency === currency)?.told,
      ...(roundDetailsUrl !== null && { roundDetailsUrl }),
      items: rows.map(itemOf),
      ...(found.length > rows.length && { truncated: true as const }),
      sums,
      advice: adviceForRound(advised, sums, open),
    };
  }

  /**
   * One page of rounds, ordered by their first BET, newest first. The page may be short or empty, because it examines a
   * bounded number of transactions. It first examines a few, which most pages need, because it reads the round of each.
   */
  private page(filter: RoundFilter, before: Place | undefined, limit: number): Promise<Found<RoundRow>> {
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
}

/** The ROLLBACKs that name the transaction, newest first. */
function rollbacksOf({ transactionId }: WholeRow, rows: readonly WholeRow[]): WholeRow[] {
  return rows
    .filter(
      ({ kind, originalTransactionId }) => kind === 'ROLLBACK' && originalTransactionId === transactionId,
    )
    .reverse();
}
