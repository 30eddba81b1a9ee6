import { Injectable } from '@nestjs/common';
import { itemFrom } from '../../api/lists/item.js';
import type { PageOf } from '../../api/lists/page.js';
import { type Found, pageOfWindow } from '../../api/lists/time-page.js';
import { isIdentifier, isUuid } from '../../api/validation/identifier.js';
import { Database } from '../../database/database.js';
import { DatabaseClock } from '../../database/database-clock.js';
import { type Place, placeColumn, placeOf } from '../../database/place.js';
import { asRange, UNMERGED } from '../../database/planner.js';
import { named } from '../../database/statement.js';
import { within } from '../../database/time-ordered.js';
import { CroupierError } from '../../errors/croupier-error.js';
import type { Mode } from '../../wallet/rules/facts.js';
import { REPORTED } from '../../wallet/transaction.sql.js';
import {
  FOLLOW_INDEXES,
  newestOf,
  type Section,
  type TransactionFilter,
  type UnnamedStatement,
  valuesFor,
  WHOLE_COLUMNS,
  windowEnd,
  windowRows,
} from '../transactions/transaction-search.sql.js';
import type { WholeRow } from '../transactions/transaction-search.store.js';
import { openRound } from './open-round.sql.js';
import { adviceOf, itemOf } from '../transactions/transaction-story.js';
import type { FindRoundQuery, RoundQuery } from './round.admin.request.js';
import { ROUND_COLUMNS, type RoundDetail, type RoundItem } from './round.admin.response.js';
import { adviceForRound } from './round-advice.js';
import { isOpen, type RoundKey, type RoundTransaction, sumsOf } from './round-sums.js';

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
): UnnamedStatement {
  const source = newestOf(filter, section, 'examined');
  const { from, to, operatorId, providerId, playerRef } = filter;
  const conditions = [
    ...(operatorId === undefined ? [] : ['bet.operator_id = :operatorId']),
    ...(providerId === undefined ? [] : ['bet.provider_id = :providerId']),
    ...(playerRef === undefined ? [] : ['bet.player_ref = :playerRef']),
    // The first BET must be in the section, so that a round is on one page only.
    ...within({ from, to, ...section }, { id: 'platform_transaction_id', idType: 'uuid' }),
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
     ORDER BY t.created_at DESC, t.platform_transaction_id DESC LIMIT :limit`;
  const values = { ...valuesFor(filter, section), rows: windowRows(filter), limit };
  return { statement: named('', text), values };
}

const firstBet = (column: string) =>
  `(array_agg(r.${column} ORDER BY r.created_at, r.platform_transaction_id) FILTER (WHERE r.kind = 'BET'))[1]`;

/** Reads the index transactions_of_round. */
const SAME_ROUND_AND_PLAYER = asRange(
  'r.round_id, r.player_ref, r.provider_id',
  'bet.round_id, bet.player_ref, bet.provider_id',
);

/** The round of `bet`: its first BET, its number of transactions, how many are undecided, and whether it is open. */
const ROUND_OF_BET = `
  SELECT ${firstBet('created_at')} AS created_at, ${firstBet('platform_transaction_id')} AS platform_transaction_id,
         count(*)::int AS transactions,
         count(*) FILTER (WHERE r.state IN ('PENDING', 'TIMED_OUT'))::int AS undecided,
         ${openRound('r')} AS open
    FROM (SELECT * FROM transactions r WHERE ${SAME_ROUND_AND_PLAYER} ${UNMERGED}) r
   WHERE r.game_id = bet.game_id AND r.operator_id = bet.operator_id AND r.mode = 'REAL'`;

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
    t.transaction_id AS "transactionId", t.kind, t.state, t.amount_minor AS "amountMinor", t.currency,
    t.round_closed AS "roundClosed", t.original_transaction_id AS "originalTransactionId",
    t.verdict IS NOT NULL AS "ownVerdict", ${REPORTED} AS "reported"`);

/** Maximum number of transactions shown for a round. The answer is then about 1 MB long. */
const SHOWN_TRANSACTIONS = 1_000;
/** Maximum number of transactions summed for a round. They then need about 20 MB of memory. */
const SUMMED_TRANSACTIONS = 50_000;

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
    const { operatorId, providerId, playerRef, from } = query;
    const oldEnough = new Date(this.databaseClock.now().getTime() - olderThanMinutes * 60_000).toISOString();
    const bounds = [...(to === undefined ? [] : [to]), ...(olderThanMinutes === 0 ? [] : [oldEnough])];
    const filter = {
      operatorId,
      providerId,
      playerRef,
      from,
      to: bounds.sort((left, right) => Date.parse(left) - Date.parse(right))[0],
      ...(open && { open: true as const }),
    };
    return pageOfWindow<RoundItem & { place: string }, RoundItem>(
      query,
      isUuid,
      ({ before, limit }) => this.page(filter, before, limit),
      (row) => itemFrom(ROUND_COLUMNS, row),
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
      const message = 'several rounds have this roundId: specify operatorId, playerRef and gameId';
      throw new CroupierError('INVALID_REQUEST', message);
    }
    const { query } = this.database;
    const found = await query<WholeRow>(TRANSACTIONS_OF_ROUND, { ...key, limit: SHOWN_TRANSACTIONS + 1 });
    const rows = found.slice(0, SHOWN_TRANSACTIONS);
    const limit = SUMMED_TRANSACTIONS;
    const summands = await query<RoundTransaction>(SUMMANDS_OF_ROUND, { ...key, limit });
    const open = isOpen(summands);
    const sums = sumsOf(summands);
    const advised = rows.map((row) => ({ ...row, advice: adviceOf(row, rollbacksOf(row, rows)) }));
    return {
      ...key,
      open,
      items: rows.map(itemOf),
      ...(found.length > rows.length && { truncated: true as const }),
      sums,
      advice: adviceForRound(advised, sums, open),
    };
  }

  /**
   * One page of rounds, ordered by their first BET, newest first. The page may be short or empty, because it examines a
   * bounded number of transactions.
   */
  private page(
    filter: RoundFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<RoundItem & { place: string }>> {
    return this.database.transaction(async ({ query }) => {
      await query(FOLLOW_INDEXES, {});
      const end = windowEnd(filter, before);
      const [last] = await query<{ place: string }>(end.statement, end.values);
      const downTo = last && placeOf(last.place);
      const { statement, values } = roundPage(filter, { before, downTo }, limit);
      return { rows: await query<RoundItem & { place: string }>(statement, values), downTo };
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
