import { Injectable } from '@nestjs/common';
import { WinningsService } from '../free-spins/winnings/winnings.service.js';
import { AttentionStore } from './attention.store.js';
import { flaggedWinnings } from './causes.js';

/**
 * Minimum time between two searches, over all instances, in seconds. The time is shorter than the `RARE_POLL_MS` of the
 * watcher, so that a single instance searches at each poll.
 */
const SEARCH_SECONDS = 50;

/**
 * Opens missing items of flagged WINs. An item is missing if the instance that flagged the WIN then died or could not
 * reach the database.
 */
@Injectable()
export class FlaggedWinningsWatch {
  constructor(
    private readonly items: AttentionStore,
    private readonly winnings: WinningsService,
  ) {}

  async run(): Promise<void> {
    if (!(await this.items.claimScan('winnings', SEARCH_SECONDS))) return;
    const flagged = await this.winnings.flaggedLately();
    await this.items.open(flagged.map(flaggedWinnings));
  }
}
