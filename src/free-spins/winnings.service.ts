import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CroupierError } from '../errors/croupier-error.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Metrics } from '../observability/metrics.js';
import { type PageOf, pageById, type PageQuery } from '../http/page.js';
import { instantMs } from '../runtime/instant.js';
import type { FreeSpinsWin } from '../wallet/attempt.runner.js';
import { WalletService } from '../wallet/wallet.service.js';
import { type FlaggedWin, type Winnings, WinningsStore } from './winnings.store.js';

/** Where a list continues: a moment to the microsecond, and an id. */
const PLACE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

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
    return pageById(
      page,
      ({ after, limit }) => this.winnings.flagged(placeIn(after), limit),
      ({ place }) => place,
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

/** @param after the text of a cursor; empty for the first page */
function placeIn(after: string): { createdAt: string; id: string } | undefined {
  if (after === '') return undefined;
  const [, createdAt, id] = PLACE.exec(after) ?? [];
  if (createdAt !== undefined && id !== undefined && instantMs(createdAt) !== null) return { createdAt, id };
  throw new CroupierError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page');
}
