import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../observability/metrics.js';
import { Background } from '../../runtime/background.js';
import type { BackgroundLoop } from '../../runtime/background-loop.js';
import { AttemptIdsStore, type IdsOfAttempt } from './attempt-ids.store.js';

/** How long ids are searchable, in days. Contract, section 9, "Search". */
export const KEPT_DAYS = 7;
/** Maximum number of attempts whose ids wait to be written. They take a few megabytes; further ids are dropped. */
const MAX_QUEUED = 20_000;
const ATTEMPTS_PER_INSERT = 1_000;
const WRITE_EVERY_MS = 500;
const DELETE_EVERY_MS = 60_000;
const ROWS_PER_DELETE = 10_000;
const DELETES_PER_PASS = 50;
/** How long a stop waits for the last write, and for a deletion in progress, in milliseconds. */
const STOP_MS = 2_000;

/**
 * Makes attempts searchable by their request id and by the platform's and the operator's transaction ids. The ids are
 * written in batches in the background, because an attempt whose ids are lost is only harder to find.
 */
@Injectable()
export class AttemptIds {
  private readonly logger = new Logger('AttemptIds');
  private queue: IdsOfAttempt[] = [];
  private readonly writing: BackgroundLoop;
  private readonly deleting: BackgroundLoop;

  constructor(
    private readonly store: AttemptIdsStore,
    private readonly metrics: Metrics,
    background: Background,
  ) {
    this.writing = background.add({
      name: 'write the ids of attempts',
      intervalMs: WRITE_EVERY_MS,
      stopMs: STOP_MS,
      lastPass: 'after-requests',
      work: () => this.write(),
      onError: (detail) => this.logger.warn({ msg: 'ids of attempts were not written', detail }),
    });
    this.deleting = background.add({
      name: 'delete expired ids of attempts',
      intervalMs: DELETE_EVERY_MS,
      stopMs: STOP_MS,
      work: () => this.deleteExpired(),
      onError: (detail) => this.logger.warn({ msg: 'expired ids were not deleted', detail }),
    });
  }

  /** Queues the ids of an attempt, or drops them if the queue is full. */
  remember(attempt: IdsOfAttempt): void {
    if (this.queue.length < MAX_QUEUED) this.queue.push(attempt);
    else this.metrics.attemptIdsDropped(1);
  }

  /** Writes the queued ids. Never rejects: a batch that cannot be written is dropped, and the rest stays queued. */
  flush(): Promise<void> {
    return this.writing.run();
  }

  private async write(): Promise<void> {
    while (this.queue.length > 0) {
      const batch = this.queue.slice(0, ATTEMPTS_PER_INSERT);
      this.queue = this.queue.slice(ATTEMPTS_PER_INSERT);
      try {
        await this.store.insert(batch);
      } catch (error) {
        this.metrics.attemptIdsDropped(batch.length);
        throw error;
      }
    }
  }

  private async deleteExpired(): Promise<void> {
    for (let deletion = 0; deletion < DELETES_PER_PASS && !this.deleting.stopping; deletion += 1) {
      if ((await this.store.deleteExpired(KEPT_DAYS, ROWS_PER_DELETE)) < ROWS_PER_DELETE) return;
    }
  }
}
