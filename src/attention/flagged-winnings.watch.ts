import { Injectable } from '@nestjs/common';
import { WinningsService } from '../free-spins/winnings/winnings.service.js';
import { AttentionStore } from './attention.store.js';
import { flaggedWinnings } from './causes.js';

/** Intervals of the two searches, in seconds, over all instances. The first is shorter than the loop's interval. */
const RECENT_SEARCH_SECONDS = 50;
const WHOLE_SEARCH_SECONDS = 600;
/** The frequent search examines only rows that were changed in this time, in seconds. */
const RECENT_SECONDS = 600;

/**
 * Opens items of flagged winnings for which the booking instance opened none, because it died. All of the latest winnings
 * are searched when an instance starts and every ten minutes; those that have recently changed, every minute.
 */
@Injectable()
export class FlaggedWinningsWatch {
  private started = false;

  constructor(
    private readonly items: AttentionStore,
    private readonly winnings: WinningsService,
  ) {}

  async run(): Promise<void> {
    const whole = (await this.items.claimScan('winnings', WHOLE_SEARCH_SECONDS)) || !this.started;
    this.started = true;
    if (!whole && !(await this.items.claimScan('recent-winnings', RECENT_SEARCH_SECONDS))) return;
    const flagged = await this.winnings.flaggedLately(whole ? undefined : RECENT_SECONDS);
    await this.items.open(flagged.map(flaggedWinnings));
  }
}
