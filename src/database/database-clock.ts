import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';
import { Clock, monotonicMs } from '../runtime/clock.js';
import type { OnSend } from './database.js';

/** Maximum offset between an instance's clock and the database's without a warning, in milliseconds. */
const TOLERATED_OFFSET_MS = 2_000;

/** A result row with the time at which its statement ran, by the database's clock. */
export interface WithDatabaseTime {
  readonly databaseTime: Date;
}

interface Reading {
  readonly databaseMs: number;
  /** The monotonic time of the reading. */
  readonly atMs: number;
  /** The instance's clock minus the database's. */
  readonly offsetMs: number;
}

/**
 * An estimate of the database's clock: its last reading, advanced by the monotonic clock. Code that must compare with
 * an instant of the database, but cannot do so in SQL, uses this clock, so that all instances agree. This class also
 * monitors how far the instance's own clock differs from the database's.
 */
@Injectable()
export class DatabaseClock {
  private readonly logger = new Logger('DatabaseClock');
  private reading: Reading | undefined;
  private warned = false;

  constructor(
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    metrics.addGauge({
      name: 'croupier_clock_offset_seconds',
      help: "How far this instance's clock is ahead of the database's, in seconds; negative if it is behind",
      read: async () => (this.reading ? [{ value: this.reading.offsetMs / 1000 }] : []),
    });
  }

  /** The database's current time, or the instance's until the first reading. */
  now(): Date {
    if (!this.reading) return this.clock.now();
    const { databaseMs, atMs } = this.reading;
    return new Date(databaseMs + monotonicMs() - atMs);
  }

  /**
   * Runs a statement and takes a reading from its answer, whose age is assumed to be half of the round trip.
   * @param statement reports when it is sent, so that a wait for a connection does not count as part of the round trip
   */
  async read<Answer extends WithDatabaseTime>(
    statement: (onSend: OnSend) => Promise<Answer>,
  ): Promise<Answer> {
    let sentMs = monotonicMs();
    const answer = await statement((atMs) => (sentMs = atMs));
    const receivedMs = monotonicMs();
    const uncertaintyMs = (receivedMs - sentMs) / 2;
    const databaseMs = answer.databaseTime.getTime();
    const offsetMs = this.clock.now().getTime() - uncertaintyMs - databaseMs;
    this.reading = { databaseMs, atMs: receivedMs - uncertaintyMs, offsetMs };
    this.report(offsetMs, uncertaintyMs);
    return answer;
  }

  /** Logs when the offset becomes too large and when it is tolerable again. Ignores changes within the uncertainty. */
  private report(offsetMs: number, uncertaintyMs: number): void {
    const distanceMs = Math.abs(offsetMs);
    const outOfBounds = distanceMs - uncertaintyMs > TOLERATED_OFFSET_MS;
    const withinBounds = distanceMs + uncertaintyMs <= TOLERATED_OFFSET_MS;
    if (this.warned ? !withinBounds : !outOfBounds) return;
    this.warned = outOfBounds;
    const line = { clockOffsetSeconds: Math.round(offsetMs) / 1000 };
    if (outOfBounds)
      this.logger.warn({
        msg: "the clock of this instance differs from the database's: set it by NTP",
        ...line,
      });
    else this.logger.log({ msg: 'the clock of this instance agrees with the database again', ...line });
  }
}
