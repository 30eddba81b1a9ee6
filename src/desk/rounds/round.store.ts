import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { type Place, placeOf } from '../../database/place.js';
import type { Found } from '../../api/lists/time-page.js';
import { FOLLOW_INDEXES, windowEnd } from '../transactions/transaction-search.sql.js';
import type { WholeRow } from '../transactions/transaction-search.store.js';
import {
  type RoundChoice,
  type RoundFilter,
  roundPage,
  roundsWithId,
  summandsOfRound,
  transactionsOfRound,
} from './round.sql.js';
import type { RoundKey, RoundTransaction } from './round-sums.js';

/** A round in a list. */
export interface RoundRow extends RoundKey {
  readonly open: boolean;
  /** When its first BET was created. */
  readonly createdAt: Date;
  readonly transactions: number;
  readonly undecided: number;
}

@Injectable()
export class RoundStore {
  constructor(private readonly database: Database) {}

  /**
   * One page of rounds, ordered by their first BET, newest first. The page may be short or empty, because it examines a
   * bounded number of transactions.
   */
  page(
    filter: RoundFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<RoundRow & { place: string }>> {
    return this.database.transaction(async ({ query }) => {
      await query(FOLLOW_INDEXES, []);
      const end = windowEnd(filter, before);
      const [last] = await query<{ place: string }>(end.statement, end.values);
      const downTo = last && placeOf(last.place);
      const { statement, values } = roundPage(filter, { before, downTo }, limit);
      return { rows: await query<RoundRow & { place: string }>(statement, values), downTo };
    });
  }

  /** At most `limit` matching rounds, without duplicates. */
  withId(
    { providerId, roundId }: Pick<RoundKey, 'providerId' | 'roundId'>,
    choice: RoundChoice,
    limit: number,
  ): Promise<RoundKey[]> {
    const { statement, values } = roundsWithId(providerId, roundId, choice, limit);
    return this.database.query<RoundKey>(statement, values);
  }

  /** The oldest transactions of a round. */
  transactionsOf(key: RoundKey, limit: number): Promise<WholeRow[]> {
    const { statement, values } = transactionsOfRound(key, limit);
    return this.database.query<WholeRow>(statement, values);
  }

  /** The oldest transactions of a round, with the fields that determine its sums. */
  summandsOf(key: RoundKey, limit: number): Promise<RoundTransaction[]> {
    const { statement, values } = summandsOfRound(key, limit);
    return this.database.query<RoundTransaction>(statement, values);
  }
}
