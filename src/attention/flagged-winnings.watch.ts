import { Injectable } from '@nestjs/common';
import { WinningsService } from '../free-spins/winnings/winnings.service.js';
import { AttentionStore } from './attention.store.js';
import { flaggedWinnings } from './causes.js';

/** Interval of the search, in seconds, over all instances. It is shorter than the loop's interval. */
const SEARCH_SECONDS = 50;

/** Opens the items that are missing because the instance that booked a flagged WIN died before it opened the item. */
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
