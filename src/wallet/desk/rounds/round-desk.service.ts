import { Injectable } from '@nestjs/common';
import { DatabaseClock } from '../../../database/database-clock.js';
import { CroupierError } from '../../../errors/croupier-error.js';
import { isIdentifier, isUuid } from '../../../http/validation/identifier.js';
import type { PageOf } from '../../../http/lists/page.js';
import { pageOfWindow } from '../../../http/lists/time-page.js';
import type { WholeRow } from '../transaction-search.store.js';
import { adviceOf, itemOf, lastReported } from '../transaction-story.js';
import type { FindRoundQuery, RoundQuery } from './round.admin.request.js';
import type { RoundDetail, RoundItem } from './round.admin.response.js';
import { type RoundRow, RoundStore } from './round.store.js';
import { adviceForRound } from './round-advice.js';
import { isOpen, type RoundKey, type RoundTransaction, sumsOf } from './round-sums.js';

/** Maximum number of transactions of a round that are read and shown. */
const MAX_TRANSACTIONS = 1_000;

/** Rounds for the support desk. Contract, section 9, "Rounds". */
@Injectable()
export class RoundDesk {
  constructor(
    private readonly rounds: RoundStore,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /** By their first BET, newest first. @throws CroupierError INVALID_REQUEST */
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
    return pageOfWindow<RoundRow & { place: string }, RoundItem>(
      query,
      isUuid,
      ({ before, limit }) => this.rounds.page(filter, before, limit),
      roundItemOf,
    );
  }

  /** @throws CroupierError NOT_FOUND · INVALID_REQUEST if several rounds match */
  async detail(
    { providerId, roundId }: Pick<RoundKey, 'providerId' | 'roundId'>,
    { mode = 'REAL', ...choice }: FindRoundQuery,
  ): Promise<RoundDetail> {
    const known = isIdentifier(providerId) && isIdentifier(roundId);
    const key = { providerId, roundId };
    const found = known
      ? await this.rounds.transactionsOf(key, { ...choice, mode }, MAX_TRANSACTIONS + 1)
      : [];
    const rows = found.slice(0, MAX_TRANSACTIONS);
    const [first] = rows;
    if (!first) throw new CroupierError('NOT_FOUND', 'no such round');
    const { operatorId, playerRef, gameId } = first;
    const isOfFirst = (row: WholeRow) =>
      row.operatorId === operatorId && row.playerRef === playerRef && row.gameId === gameId;
    if (!rows.every(isOfFirst)) {
      const message = 'several rounds have this roundId: specify operatorId, playerRef and gameId';
      throw new CroupierError('INVALID_REQUEST', message);
    }
    const transactions = rows.map(roundTransactionOf);
    const open = isOpen(transactions);
    const sums = sumsOf(transactions);
    const advised = rows.map((row) => ({ ...row, advice: adviceOf(row, rollbacksOf(row, rows)) }));
    return {
      ...key,
      operatorId,
      playerRef,
      // Every transaction of a round has a game.
      gameId: gameId ?? '',
      mode,
      open,
      items: rows.map(itemOf),
      ...(found.length > rows.length && { truncated: true as const }),
      sums,
      advice: adviceForRound(advised, sums, open),
    };
  }
}

function roundItemOf(row: RoundRow): RoundItem {
  const { providerId, roundId, operatorId, playerRef, gameId, mode } = row;
  const { open, transactions, undecided, createdAt } = row;
  return {
    providerId,
    roundId,
    operatorId,
    playerRef,
    gameId,
    mode,
    open,
    transactions,
    undecided,
    createdAt,
  };
}

function roundTransactionOf(row: WholeRow): RoundTransaction {
  return { ...row, ownVerdict: row.verdict !== null, lastReported: lastReported(row) };
}

/** The ROLLBACKs that name the transaction, newest first. */
function rollbacksOf({ transactionId }: WholeRow, rows: readonly WholeRow[]): WholeRow[] {
  return rows
    .filter(
      ({ kind, originalTransactionId }) => kind === 'ROLLBACK' && originalTransactionId === transactionId,
    )
    .reverse();
}
