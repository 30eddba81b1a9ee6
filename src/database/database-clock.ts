import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';
import { Clock, monotonicMs } from '../runtime/clock.js';

/** How far an instance's clock may be off the database's without a warning, in milliseconds. */
const TOLERATED_OFFSET_MS = 2_000;

/** An answer that carries what the database's clock showed while its statement ran. */
export interface Timed {
  readonly databaseTime: Date;
}

interface Reading {
  readonly databaseMs: number;
  /** The instant of the reading, on this process's monotonic clock. */
  readonly atMs: number;
  /** Instance minus database. */
  readonly offsetMs: number;
}

/**
 * The database's clock as this instance knows it: the last reading, carried on by the monotonic clock. What is compared
 * with an instant in the database, and cannot be compared there, is compared with this clock, so that all instances
 * agree. It also watches how far the instance's own clock is off.
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
    metrics.addLevel({
      name: 'croupier_clock_offset_seconds',
      help: "How far this instance's clock is ahead of the database's; negative where it is behind",
      read: async () => (this.reading ? [{ value: this.reading.offsetMs / 1000 }] : []),
    });
  }

  /** The time of day by the database's clock; by the instance's until the first reading. */
  now(): Date {
    if (!this.reading) return this.clock.now();
    const { databaseMs, atMs } = this.reading;
    return new Date(databaseMs + monotonicMs() - atMs);
  }

  /** Runs a statement and takes a reading from its answer, which is as old as half of its round trip. */
  async read<Answer extends Timed>(statement: () => Promise<Answer>): Promise<Answer> {
    const sentMs = monotonicMs();
    const answer = await statement();
    const receivedMs = monotonicMs();
    const uncertaintyMs = (receivedMs - sentMs) / 2;
    const databaseMs = answer.databaseTime.getTime();
    const offsetMs = this.clock.now().getTime() - uncertaintyMs - databaseMs;
    this.reading = { databaseMs, atMs: receivedMs - uncertaintyMs, offsetMs };
    this.report(offsetMs, uncertaintyMs);
    return answer;
  }

  /** One line when the clock is certainly out of bounds, and one when it is certainly back. */
  private report(offsetMs: number, uncertaintyMs: number): void {
    const distanceMs = Math.abs(offsetMs);
    const outOfBounds = distanceMs - uncertaintyMs > TOLERATED_OFFSET_MS;
    const withinBounds = distanceMs + uncertaintyMs <= TOLERATED_OFFSET_MS;
    if (this.warned ? !withinBounds : !outOfBounds) return;
    this.warned = outOfBounds;
    const line = { clockOffsetSeconds: Math.round(offsetMs) / 1000 };
    if (outOfBounds)
      this.logger.warn({ msg: "the clock of this instance is off the database's: set it by NTP", ...line });
    else this.logger.log({ msg: 'the clock of this instance agrees with the database again', ...line });
  }
}
