import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Metrics } from '../observability/metrics.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { Clock } from '../runtime/clock.js';
import { AuditStore } from './audit.store.js';
import { HeadFile } from './head-file.js';

/** Interval at which a changed head is written to `AUDIT_HEAD_FILE`, in milliseconds. */
const INTERVAL_MS = 60_000;
/** Interval at which the head is written to the service's log, in milliseconds. */
const LOG_EVERY_MS = 3_600_000;
/** How long a stop waits for the database and the file, in milliseconds. */
const STOP_MS = 2_000;

const NOT_RECORDED = 'the head of the audit log cannot be recorded: check AUDIT_HEAD_FILE and the database';

/**
 * Writes the head of the audit log to places that the database's owner cannot alter: to the service's log every hour,
 * to `AUDIT_HEAD_FILE` every minute, and to both at stop.
 */
@Injectable()
export class HeadReporter {
  private readonly logger = new Logger('AuditHead');
  private readonly file: HeadFile | undefined;
  private readonly loop: BackgroundLoop;
  /** The monotonic time. */
  private loggedMs: number;
  private writtenHash = '';

  constructor(
    { auditHeadFile }: Configuration,
    private readonly store: AuditStore,
    private readonly clock: Clock,
    background: Background,
    metrics: Metrics,
  ) {
    this.file = auditHeadFile === undefined ? undefined : new HeadFile(auditHeadFile);
    this.loggedMs = clock.monotonicMs();
    this.loop = background.add({
      name: 'report the head of the audit log',
      intervalMs: INTERVAL_MS,
      // The first report is made at start, so that an AUDIT_HEAD_FILE that cannot be written is noticed immediately.
      firstAfterMs: 0,
      stopMs: STOP_MS,
      // The other last passes append entries.
      lastPass: 'after-others',
      work: (isLast) => this.report(isLast),
      onError: (detail) => this.logger.warn({ msg: NOT_RECORDED, file: this.file?.path, detail }),
      onRecovery: () => this.logger.log({ msg: 'the head of the audit log is recorded again' }),
    });
    metrics.addGauge({
      name: 'croupier_audit_head_recorded',
      help: 'Whether the head of the audit log can be recorded: 1 or 0',
      read: async () => [{ value: this.loop.failing ? 0 : 1 }],
    });
  }

  /** Never rejects. */
  tick(): Promise<void> {
    return this.loop.run();
  }

  private async report(isLast: boolean): Promise<void> {
    const logIsDue = isLast || this.clock.monotonicMs() - this.loggedMs >= LOG_EVERY_MS;
    const head = logIsDue || this.file ? await this.store.head() : undefined;
    if (head && logIsDue) {
      this.logger.log({ msg: 'audit head', ...head });
      this.loggedMs = this.clock.monotonicMs();
    }
    if (head && this.file && head.hash !== this.writtenHash) {
      await this.file.append(head, this.clock.now());
      this.writtenHash = head.hash;
    }
    if (!head) await this.file?.prepare();
  }
}
