import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { type Place, placeOf } from '../../database/place.js';
import type { Found } from '../../api/lists/time-page.js';
import {
  FLAGGED_IN_ROUND,
  FLAGGED_LATELY,
  FLAGGED_WIN,
  type FlaggedFilter,
  flaggedPage,
  flaggedWindowEnd,
  OF_GRANT,
  STILL_FLAGGED,
} from './winnings.sql.js';

/**
 * Why a person should review a booked WIN. If several flags apply, the first in this order is shown. Contract, section
 * 6.
 *
 * - `UNKNOWN_BATCH`: its freeSpinsRef names no grant of the provider.
 * - `OTHER_PLAYER`, `OTHER_CURRENCY`: its freeSpinsRef names a grant of another player or operator, or in another
 *   currency.
 * - `CANCELLED`: its freeSpinsRef names a grant that was cancelled before the WIN.
 * - `NO_STANDING_BET`: its round has a BET that is ROLLED_BACK, and none that is PENDING, TIMED_OUT or APPROVED. A WIN
 *   of 0 is flagged too: the player lost the round, but the BET was refunded. A tombstone counts as a BET that is
 *   ROLLED_BACK. If the round has no BETs, or only DECLINED ones, the flag does not apply, because the rules accept the
 *   WIN.
 * - `ABOVE_LIMIT`: it was above `maxWinMinor` of its operator when it was booked. Contract, section 9.
 */
export const FLAGS = [
  'UNKNOWN_BATCH',
  'OTHER_PLAYER',
  'OTHER_CURRENCY',
  'CANCELLED',
  'NO_STANDING_BET',
  'ABOVE_LIMIT',
] as const;
export type Flag = (typeof FLAGS)[number];

export interface Winnings {
  readonly count: number;
  /** Minor units of the grant's currency; null above 2^53−1. */
  readonly totalMinor: number | null;
  /** The number of flagged WINs that name the grant. */
  readonly flagged: number;
}

/** What identifies a WIN. */
export interface WinKey {
  readonly providerId: string;
  readonly transactionId: string;
}

export interface FlaggedWin extends WinKey {
  readonly operatorId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly roundId: string;
  readonly freeSpinsRef: string | null;
  /** Minor units. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly flag: Flag;
  readonly createdAt: Date;
}

/** Maximum number of WINs of one round that are reported after a ROLLBACK. */
const REPORTED_PER_ROUND = 100;

/** Maximum number of WINs that `flaggedLately` examines. */
const LATEST_WINS = 2_000;

/**
 * Reads winnings from the wallet's transactions, so that nothing is stored twice or lost in a crash. The database marks
 * the WINs that may be flagged (migration 0022). Whether a marked WIN is flagged depends on the current grants and
 * transactions.
 */
@Injectable()
export class WinningsStore {
  constructor(private readonly database: Database) {}

  async ofGrant(requestRef: string): Promise<Winnings> {
    const [winnings] = await this.database.query<Winnings>(OF_GRANT, [requestRef]);
    return winnings!;
  }

  /** The WIN if it is booked and flagged, else an empty list. */
  flaggedWin(providerId: string, transactionId: string): Promise<FlaggedWin[]> {
    return this.database.query(FLAGGED_WIN, [providerId, transactionId]);
  }

  /** The WINs in the round of a ROLLBACK that have the flag NO_STANDING_BET. */
  flaggedInRoundOf(providerId: string, rollbackId: string): Promise<FlaggedWin[]> {
    return this.database.query(FLAGGED_IN_ROUND, [providerId, rollbackId, REPORTED_PER_ROUND]);
  }

  /** Returns those of the WINs that are booked and flagged. */
  stillFlagged(wins: readonly WinKey[]): Promise<WinKey[]> {
    const providers = wins.map(({ providerId }) => providerId);
    return this.database.query(STILL_FLAGGED, [providers, wins.map(({ transactionId }) => transactionId)]);
  }

  /** The flagged WINs among the WINs that were marked last, in no particular order. */
  flaggedLately(): Promise<FlaggedWin[]> {
    return this.database.query(FLAGGED_LATELY, [LATEST_WINS]);
  }

  /**
   * Reads one page of the flagged WINs, newest first. It examines a bounded number of marked WINs, so it may find fewer
   * than `limit` although older ones are flagged.
   * @param before only WINs older than this place are read; undefined for the first page
   */
  async flagged(
    filter: FlaggedFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<FlaggedWin & { readonly place: string }>> {
    const end = flaggedWindowEnd(filter, before);
    const [last] = await this.database.query<{ place: string }>(end.statement, end.values);
    const downTo = last && placeOf(last.place);
    const { statement, values } = flaggedPage(filter, { before, downTo }, limit);
    return { rows: await this.database.query(statement, values), downTo };
  }
}
