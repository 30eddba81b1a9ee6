import { Injectable, Logger } from '@nestjs/common';
import { DatabaseClock } from '../../database/database-clock.js';
import { Background } from '../../runtime/background.js';
import type { BackgroundLoop } from '../../runtime/background-loop.js';
import { monotonicMs } from '../../runtime/clock.js';
import { Instance } from '../../runtime/instance.js';
import type { Claim, Settled, Settlement } from '../transaction.js';
import { type ActivityOfMinute, ActivityStore, type AmountsOfHour, MINUTES_SHOWN } from './activity.store.js';
import { MinuteCounts } from './minute-counts.js';

/** Interval at which an instance shares its counts, in milliseconds, so that the live view is at most 5 s old. */
const SHARE_MS = 2_000;
/** How long a stop waits until the last counts are shared, in milliseconds. */
const STOP_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * Counts transactions in REAL sessions by minute. Each instance counts in memory and shares its counts through the
 * database. Contract, section 9, "Live view".
 *
 * Counting is on the hot path: it allocates nothing, except for the first event of a minute or a currency.
 */
@Injectable()
export class Activity {
  private readonly logger = new Logger('Activity');
  /** The minutes of the last hour. All are kept, because a ROLLBACK is subtracted in the minute of its BET. */
  private readonly minutes = new Map<number, MinuteCounts>();
  private current = new MinuteCounts(0);
  /** The monotonic time at which the current minute ends. */
  private endsMs = -Infinity;
  /** The minute in which old rows were last removed. */
  private removedIn = 0;
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly instance: Instance,
    private readonly databaseClock: DatabaseClock,
    private readonly store: ActivityStore,
    background: Background,
  ) {
    this.loop = background.add({
      name: 'share the transactions that the live view counts',
      intervalMs: SHARE_MS,
      stopMs: STOP_MS,
      lastPass: 'after-requests',
      work: () => this.pass(),
      // The loss of the database is reported elsewhere.
      onError: (detail) =>
        this.logger.warn({ msg: 'the transactions of this instance are missing from the live view', detail }),
    });
  }

  /** Counts a transaction that a provider has submitted, at its first attempt. */
  submitted({ mode, attempt, operatorRequest }: Claim): void {
    if (mode === 'REAL' && attempt === 1) this.now().countSubmitted(operatorRequest.kind);
  }

  /** Counts a committed settlement, whether a provider, the resolver or an administrator caused its attempt. */
  settled(
    { mode, attempt, operatorRequest }: Claim,
    { state, record }: Settlement,
    { reversedMinor, reversedAt }: Settled,
  ): void {
    const { kind, currency, amountMinor } = operatorRequest;
    if (mode !== 'REAL' || kind === 'ADJUSTMENT') return;
    if (state === 'DECLINED') this.now().count('declined');
    else if (state === 'TIMED_OUT') {
      if (attempt === 1 && record.driver === undefined) this.now().count('undecided');
    } else if (kind === 'BET') this.now().add(currency, 'betMinor', amountMinor);
    else if (kind === 'WIN') this.now().add(currency, 'winMinor', amountMinor);
    else if (reversedMinor != null && reversedAt != null) {
      this.minuteOf(reversedAt)?.add(currency, 'betMinor', -reversedMinor);
    }
  }

  /** Counts a provider's transaction that was refused and not stored. */
  refused(): void {
    this.now().count('refused');
  }

  /** Shares what was counted so far. Never rejects. */
  share(): Promise<void> {
    return this.loop.run();
  }

  /** The transactions of the last 60 minutes at all instances, oldest first. */
  perMinute(): Promise<ActivityOfMinute[]> {
    return this.store.minutes();
  }

  /** The amounts of the last 60 minutes at all instances, by currency. */
  amounts(): Promise<AmountsOfHour[]> {
    return this.store.amounts();
  }

  private now(): MinuteCounts {
    return monotonicMs() < this.endsMs ? this.current : this.beginMinute();
  }

  private beginMinute(): MinuteCounts {
    const nowMs = this.databaseClock.now().getTime();
    const number = Math.floor(nowMs / MINUTE_MS);
    this.endsMs = monotonicMs() + (number + 1) * MINUTE_MS - nowMs;
    this.current = this.minute(number);
    for (const old of this.minutes.keys()) if (old <= number - MINUTES_SHOWN) this.minutes.delete(old);
    return this.current;
  }

  /** The minute of an instant in the past; undefined if it is no longer shown. */
  private minuteOf(instant: Date): MinuteCounts | undefined {
    const { number: current } = this.now();
    const number = Math.min(Math.floor(instant.getTime() / MINUTE_MS), current);
    return number > current - MINUTES_SHOWN ? this.minute(number) : undefined;
  }

  private minute(number: number): MinuteCounts {
    let minute = this.minutes.get(number);
    if (!minute) {
      minute = new MinuteCounts(number);
      this.minutes.set(number, minute);
    }
    return minute;
  }

  /** Shares the minutes that have changed. After a failure, the next pass shares them. */
  private async pass(): Promise<void> {
    const changed = [...this.minutes.values()].filter((minute) => minute.changed);
    if (changed.length > 0) await this.shareMinutes(changed);
    const { number } = this.now();
    if (number !== this.removedIn) await this.store.removeOld();
    this.removedIn = number;
  }

  private async shareMinutes(minutes: readonly MinuteCounts[]): Promise<void> {
    const sharing = this.store.share(this.instance.id, minutes);
    // What is counted while the statement runs is shared by the next pass.
    for (const minute of minutes) minute.changed = false;
    try {
      await sharing;
    } catch (error) {
      for (const minute of minutes) minute.changed = true;
      throw error;
    }
  }
}
