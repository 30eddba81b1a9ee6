import { Injectable } from '@nestjs/common';
import { itemFrom } from '../../api/lists/item.js';
import type { PageOf } from '../../api/lists/page.js';
import { pageOfWindow } from '../../api/lists/time-page.js';
import { isIdentifier, isUuid } from '../../api/validation/identifier.js';
import { DatabaseClock } from '../../database/database-clock.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { finishedRoundDetailsUrl, type RoundDetails } from '../../tenancy/round-details-url.js';
import type { Kind } from '../../wallet/rules/facts.js';
import type { WholeRow } from '../transactions/transaction-search.store.js';
import { adviceOf, itemOf } from '../transactions/transaction-story.js';
import type { FindRoundQuery, RoundQuery } from './round.admin.request.js';
import { ROUND_COLUMNS, type RoundDetail, type RoundItem } from './round.admin.response.js';
import { type RoundRow, RoundStore } from './round.store.js';
import { adviceForRound } from './round-advice.js';
import { isOpen, type RoundKey, sumsOf } from './round-sums.js';

/** Maximum number of transactions shown for a round. The answer is then about 1 MB long. */
const SHOWN_TRANSACTIONS = 1_000;
/** Maximum number of transactions summed for a round. They then need about 20 MB of memory. */
const SUMMED_TRANSACTIONS = 50_000;

/** Rounds for the support desk. Contract, section 9, "Rounds". */
@Injectable()
export class RoundDesk {
  constructor(
    private readonly rounds: RoundStore,
    private readonly databaseClock: DatabaseClock,
  ) {}

  /**
   * One page of rounds, newest first. A round is as old as its first BET or, without one, its first WIN.
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
      ({ before, limit }) => this.rounds.page(filter, before, limit),
      (row) => itemFrom(ROUND_COLUMNS, { ...row, roundDetailsUrl: roundDetailsUrlOf(row) }),
    );
  }

  /** @throws CroupierError NOT_FOUND · INVALID_REQUEST if several rounds match */
  async detail(
    { providerId, roundId }: Pick<RoundKey, 'providerId' | 'roundId'>,
    { mode = 'REAL', ...choice }: FindRoundQuery,
  ): Promise<RoundDetail> {
    const known = isIdentifier(providerId) && isIdentifier(roundId);
    const [key, another] = known ? await this.rounds.withId(providerId, roundId, { ...choice, mode }, 2) : [];
    if (!key) throw new CroupierError('NOT_FOUND', 'no such round');
    if (another) {
      const choices =
        choice.operatorId === undefined ? 'operatorId, playerRef and gameId' : 'playerRef and gameId';
      throw new CroupierError('INVALID_REQUEST', `several rounds have this roundId: specify ${choices}`);
    }
    const found = await this.rounds.transactionsOf(key, SHOWN_TRANSACTIONS + 1);
    const rows = found.slice(0, SHOWN_TRANSACTIONS);
    const summands = await this.rounds.summandsOf(key, SUMMED_TRANSACTIONS);
    const open = isOpen(summands);
    const sums = sumsOf(summands);
    const first = (kind: Kind) => rows.find((row) => row.kind === kind);
    const bet = first('BET');
    const { currency, roundDetailsTemplate } = bet ?? first('WIN') ?? rows[0]!;
    const ids = { sessionId: null, transactionId: null, language: null, ...bet, ...key };
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
}

function roundDetailsUrlOf(
  round: RoundDetails & { readonly roundDetailsTemplate: string | null },
): string | null {
  const { roundDetailsTemplate: template } = round;
  return template === null ? null : finishedRoundDetailsUrl(template, round);
}

/** The ROLLBACKs that name the transaction, newest first. */
function rollbacksOf({ transactionId }: WholeRow, rows: readonly WholeRow[]): WholeRow[] {
  return rows
    .filter(
      ({ kind, originalTransactionId }) => kind === 'ROLLBACK' && originalTransactionId === transactionId,
    )
    .reverse();
}
