import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Metrics } from '../observability/metrics.js';
import { isUuid } from '../http/identifier.js';
import type { PageOf, PageQuery } from '../http/page.js';
import { pageByTime } from '../http/time-page.js';
import type { FreeSpinsWin } from '../wallet/attempt.runner.js';
import { WalletService } from '../wallet/wallet.service.js';
import { type FlaggedWin, type Winnings, WinningsStore } from './winnings.store.js';

/** Links WINs that name a batch to its grant, and tells of those that are odd. Contract, section 6. */
@Injectable()
export class WinningsService implements OnModuleInit {
  private readonly logger = new BoundedLogger('Winnings');

  constructor(
    private readonly winnings: WinningsStore,
    private readonly wallet: WalletService,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.wallet.onFreeSpinsWin((win) => void this.look(win));
  }

  of(requestRef: string): Promise<Winnings> {
    return this.winnings.ofGrant(requestRef);
  }

  /** Every booked WIN behind which no live grant of its player stands, newest first. @throws CroupierError INVALID_REQUEST */
  flagged(page: PageQuery): Promise<PageOf<FlaggedWin>> {
    return pageByTime(
      page,
      isUuid,
      ({ before, limit }) => this.winnings.flagged(before, limit),
      (win) => win,
    );
  }

  /** Tells of an odd one as it is booked; what a crash leaves untold, the list still shows. */
  private async look({ providerId, transactionId, freeSpinsRef }: FreeSpinsWin): Promise<void> {
    const told = { providerId, transactionId, freeSpinsRef };
    try {
      const flag = await this.winnings.flagOf(providerId, transactionId);
      if (flag === undefined) return;
      this.metrics.flaggedWinnings.inc({ flag });
      this.logger.warn({ msg: 'winnings of free spins without a live grant were booked', flag, ...told });
    } catch (error) {
      const detail = (error as Error).message;
      this.logger.warn({ msg: 'winnings of free spins could not be looked at', ...told, detail });
    }
  }
}
