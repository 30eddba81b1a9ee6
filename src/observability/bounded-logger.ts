import { Logger } from '@nestjs/common';
import { monotonicMs } from '../runtime/clock.js';

/** Lines in a second; what comes beyond is counted and told with the next line. */
const LINES_PER_SECOND = 10;

/** A log for what a stranger can cause at will: it cannot be used to flood the disk. */
export class BoundedLogger {
  private readonly logger: Logger;
  private windowStart = 0;
  private written = 0;
  private suppressed = 0;

  constructor(context: string) {
    this.logger = new Logger(context);
  }

  warn(fields: object): void {
    const now = monotonicMs();
    if (now - this.windowStart >= 1000) {
      this.windowStart = now;
      this.written = 0;
    }
    if (this.written >= LINES_PER_SECOND) {
      this.suppressed += 1;
      return;
    }
    this.written += 1;
    this.logger.warn(this.suppressed > 0 ? { ...fields, suppressedLines: this.suppressed } : fields);
    this.suppressed = 0;
  }
}
