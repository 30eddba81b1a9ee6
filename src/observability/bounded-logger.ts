import { Logger } from '@nestjs/common';
import { monotonicMs } from '../runtime/clock.js';
import { runUntraced } from './trace.js';

/** At most `LINES` lines are written in each window of `WINDOW_MS` milliseconds. */
const LINES = 10;
const WINDOW_MS = 1000;

/**
 * Limits the log lines that unauthenticated callers can cause, so that these callers cannot fill the disk. Further
 * lines are only counted, and their number is logged when the window ends or the service stops.
 */
export class BoundedLogger {
  /** Loggers with a count that is not yet written. */
  private static readonly suppressing = new Set<BoundedLogger>();

  private readonly logger: Logger;
  /** Nest's name for the level of the last line. */
  private level: 'log' | 'warn' = 'warn';
  private windowStart = -Infinity;
  private written = 0;
  private suppressed = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(context: string) {
    this.logger = new Logger(context);
  }

  /** Writes all counts without waiting for the end of their windows. */
  static writeSuppressedCounts(): void {
    for (const logger of BoundedLogger.suppressing) logger.writeSuppressedCount();
  }

  info(fields: object): void {
    this.write('log', fields);
  }

  warn(fields: object): void {
    this.write('warn', fields);
  }

  private write(level: 'log' | 'warn', fields: object): void {
    this.level = level;
    const now = monotonicMs();
    if (now - this.windowStart >= WINDOW_MS) {
      this.writeSuppressedCount();
      this.windowStart = now;
      this.written = 0;
    }
    if (this.written < LINES) {
      this.written += 1;
      this.logger[level](fields);
      return;
    }
    this.suppressed += 1;
    if (this.timer) return;
    BoundedLogger.suppressing.add(this);
    const waitMs = this.windowStart + WINDOW_MS - now;
    this.timer = setTimeout(() => this.writeSuppressedCount(), waitMs).unref();
  }

  private writeSuppressedCount(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    BoundedLogger.suppressing.delete(this);
    if (this.suppressed === 0) return;
    const suppressedLines = this.suppressed;
    this.suppressed = 0;
    // The lines belong to many requests, so the count carries no request id.
    runUntraced(() => this.logger[this.level]({ msg: 'log lines suppressed', suppressedLines }));
  }
}
