import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BoundedLogger } from '../../observability/bounded-logger.js';
import { Metrics } from '../../observability/metrics.js';
import { withCurrentTrace } from '../../observability/trace.js';
import { failureText } from '../../runtime/failure-text.js';
import { WinMonitor, type WinningsTrigger } from '../../wallet/win-monitor.js';
import type { FlaggedWin, WinKey } from './winnings.response.js';
import { WinningsStore } from './winnings.store.js';

export type { FlaggedWin } from './winnings.response.js';

/** Number of reported WINs that an instance remembers, so that it counts and logs each only once. */
const REMEMBERED = 1_000;

/** Maximum number of a provider's settlements that wait for their review. */
const WAITING_AT_MOST = 1_000;

/** The reviews of settlements of one provider, the next one first. No other provider's reviews wait for them. */
interface ReviewQueue {
  readonly waiting: (() => Promise<void>)[];
  running: boolean;
}

/** Reads the winnings of grants, and reports flagged winnings. */
@Injectable()
export class WinningsService implements OnModuleInit {
  private readonly logger = new BoundedLogger('Winnings');
  /** The keys of reported WINs, oldest first. */
  private readonly reported = new Set<string>();
  private readonly watchers: ((win: FlaggedWin) => void)[] = [];
  /** By provider id. It needs no bound, because providers are few and never deleted. */
  private readonly queues = new Map<string, ReviewQueue>();

  constructor(
    private readonly winnings: WinningsStore,
    private readonly winMonitor: WinMonitor,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.winMonitor.onWinningsTrigger((trigger) => this.enqueue(trigger));
  }

  /**
   * Registers a watcher of flagged winnings.
   * @param watcher called when a settlement by this instance has caused a WIN to be flagged, perhaps more than once for a
   *   WIN; not awaited, and must not throw
   */
  onFlagged(watcher: (win: FlaggedWin) => void): void {
    this.watchers.push(watcher);
  }

  /**
   * Returns the flagged WINs among those that the database marked last; migration 0022 says which WINs it marks. The
   * result is not ordered, and includes WINs that were not reported because of a crash.
   */
  flaggedLately(): Promise<FlaggedWin[]> {
    return this.winnings.flaggedLately();
  }

  /** Returns those of the WINs that are booked and flagged. */
  stillFlagged(wins: readonly WinKey[]): Promise<WinKey[]> {
    return this.winnings.stillFlagged(wins);
  }

  private enqueue(trigger: WinningsTrigger): void {
    const { providerId, transactionId } = trigger;
    const queue = this.queues.get(providerId) ?? { waiting: [], running: false };
    this.queues.set(providerId, queue);
    if (queue.waiting.length < WAITING_AT_MOST)
      queue.waiting.push(withCurrentTrace(() => this.review(trigger)));
    // The search for flagged winnings opens the item of a WIN that is flagged, within a minute.
    else
      this.logger.warn({
        msg: 'too many reviews of winnings wait: one was dropped',
        providerId,
        transactionId,
      });
    if (!queue.running) void this.reviewAll(queue);
  }

  /** Reviews one settlement after another, so that a provider's long rounds take at most one connection. */
  private async reviewAll(queue: ReviewQueue): Promise<void> {
    queue.running = true;
    for (let next = queue.waiting.shift(); next; next = queue.waiting.shift()) await next();
    queue.running = false;
  }

  /** Reports WINs that have become flagged. The list of flagged WINs also has those that a crash leaves unreported. */
  private async review({ kind, providerId, transactionId }: WinningsTrigger): Promise<void> {
    try {
      const flagged =
        kind === 'WIN'
          ? await this.winnings.flaggedWin(providerId, transactionId)
          : await this.winnings.flaggedInRoundOf(providerId, transactionId);
      for (const win of flagged) this.report(win);
    } catch (error) {
      const detail = failureText(error);
      this.logger.warn({ msg: 'winnings could not be reviewed', kind, providerId, transactionId, detail });
    }
  }

  /** Tells the watchers. Counts and logs a WIN only once, even if its flag is gone for a while. */
  private report(win: FlaggedWin): void {
    for (const watcher of this.watchers) watcher(win);
    const key = JSON.stringify([win.providerId, win.transactionId]);
    if (this.reported.has(key)) return;
    this.reported.add(key);
    const [oldest] = this.reported;
    if (this.reported.size > REMEMBERED && oldest !== undefined) this.reported.delete(oldest);
    const { providerId, transactionId, operatorId, playerRef, roundId, flag } = win;
    const freeSpinsRef = win.freeSpinsRef ?? undefined;
    this.metrics.winningFlagged(flag);
    this.logger.warn({
      msg: 'flagged winnings were booked: see /v1/admin/free-spins-winnings/flagged',
      flag,
      providerId,
      transactionId,
      operatorId,
      playerRef,
      roundId,
      freeSpinsRef,
    });
  }
}
