import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import { Tracing } from '../../observability/tracing.js';
import { callbackStopMs } from '../../provider-callback/callback-lease.js';
import { Background } from '../../runtime/background.js';
import type { BackgroundLoop } from '../../runtime/background-loop.js';
import { failureText } from '../../runtime/failure-text.js';
import { Randomness } from '../../runtime/randomness.js';
import { GrantCallbacks } from '../grants/grant-callbacks.js';
import type { Grant } from '../grants/grant.entity.js';
import { GrantStore } from '../grants/grant.store.js';
import { CALLS_AT_ONCE, UNANSWERED_LIMIT } from '../queue/calls.js';
import { type StatusRun, StatusRunStore } from './status-run.store.js';

/** Polling interval for requests that another instance left unfinished, in milliseconds. */
const POLL_MS = 5_000;
/** Delay before the first poll, in milliseconds. */
const FIRST_POLL_MS = 1_000;

/**
 * Asks providers about each GRANTED grant of a batch. An instance asks each provider about one batch at a time, for one
 * operator after the other, so that a slow provider delays only its own batches. A run is claimed with a lease, so that
 * one instance at a time asks about a batch. If the instance dies, another one continues once the lease has expired.
 * Contract, section 9, "Batches".
 */
@Injectable()
export class StatusRunner {
  private readonly logger = new Logger('StatusRunner');
  /** By provider id, as is `served`, the operator that was served last. Providers are few and never deleted. */
  private readonly workers = new Map<string, Promise<void>>();
  private readonly served = new Map<string, string>();
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly randomness: Randomness,
    private readonly tracing: Tracing,
    private readonly callbacks: GrantCallbacks,
    private readonly runs: StatusRunStore,
    private readonly grants: GrantStore,
    configuration: Configuration,
    background: Background,
  ) {
    this.loop = background.add({
      name: 'ask for the status of batches',
      intervalMs: POLL_MS,
      firstAfterMs: FIRST_POLL_MS,
      stopMs: callbackStopMs(configuration),
      work: () => this.addWorkers(),
      inFlight: () => [...this.workers.values()],
      onError: (detail) => this.logger.error({ msg: 'the check for requested status runs failed', detail }),
    });
  }

  /** Requests a run, which asks about each grant that is GRANTED when the run begins. */
  async request(batchId: string): Promise<void> {
    await this.runs.request(batchId);
    void this.loop.run();
  }

  private async addWorkers(): Promise<void> {
    for (const providerId of await this.runs.providersWithDueRuns()) {
      if (this.workers.has(providerId) || this.loop.stopping) continue;
      const worker = this.work(providerId)
        .catch((error: unknown) => {
          const detail = failureText(error);
          const msg =
            'the status runs of a provider were interrupted: a claimed one continues once its lease has expired';
          this.logger.error({ msg, providerId, detail });
        })
        .finally(() => this.workers.delete(providerId));
      this.workers.set(providerId, worker);
    }
  }

  private async work(providerId: string): Promise<void> {
    while (!this.loop.stopping) {
      const run = await this.runs.claim(providerId, this.served.get(providerId) ?? '');
      if (!run) return;
      this.served.set(providerId, run.operatorId);
      await this.ask(run);
    }
  }

  /** Asks about the grants of a batch that were not asked about since the run was requested. */
  private async ask(run: StatusRun): Promise<void> {
    const waiting = await this.runs.grantsToAsk(run);
    let unanswered = 0;
    const work = async () => {
      while (unanswered < UNANSWERED_LIMIT && !this.loop.stopping) {
        const grant = waiting.shift();
        if (!grant) return;
        // Another instance may have taken over if this one was suspended for longer than the lease.
        if (!(await this.runs.renew(run))) return void waiting.splice(0);
        unanswered = (await this.askAbout(grant, run)) ? 0 : unanswered + 1;
      }
    };
    // Each call in flight is awaited, so that a stop does not miss one.
    const results = await Promise.allSettled(Array.from({ length: CALLS_AT_ONCE }, work));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    if (waiting.length > 0 && unanswered >= UNANSWERED_LIMIT) {
      const msg = 'the provider does not answer, so it was not asked about the remaining grants of a batch';
      const { batchId, operatorId } = run;
      this.logger.error({ msg, batchId, operatorId, grants: waiting.length });
    } else if (waiting.length > 0) {
      return this.runs.release(run);
    }
    await this.runs.end(run);
  }

  /**
   * @returns whether the provider answered, with whatever status
   * @throws Error if the call could not be made
   */
  private async askAbout(grant: Grant, { batchId, requestId }: StatusRun): Promise<boolean> {
    const { requestRef, operatorId, providerId } = grant;
    const fields = { actor: 'batch', requestRef, operatorId, providerId, batchId };
    const judged = await this.tracing.runWork('status', requestId ?? this.randomness.uuid(), fields, () =>
      this.callbacks.pullStatus(grant),
    );
    if (!judged.ok && judged.failure.notMade) throw new Error(judged.failure.error);
    if (!judged.ok) return judged.failure.status !== undefined;
    await this.grants.recordStatus(requestRef, judged.remainingSpins, judged.completed);
    return true;
  }
}
