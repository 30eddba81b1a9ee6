import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../observability/metrics.js';
import { Tracing } from '../../observability/tracing.js';
import { Background } from '../../runtime/background.js';
import type { BackgroundLoop } from '../../runtime/background-loop.js';
import { Clock } from '../../runtime/clock.js';
import { failureText } from '../../runtime/failure-text.js';
import { Randomness } from '../../runtime/randomness.js';
import { Parking } from './parking.js';
import { ResolutionService, type ResolveOutcome } from './resolution.service.js';
import { type DueTransaction, UndecidedStore } from './undecided.store.js';

const POLL_MS = 10_000;
/** Maximum number of operators that are called concurrently, and of concurrent calls to each. The others wait in line. */
const CONCURRENT_OPERATORS = 16;
const CONCURRENT_CALLS = 4;
/** Number of an operator's transactions per query. */
const BATCH = 25;
/** Number of failed calls after which an operator waits for the next pass. */
const FAILURES_PER_TURN = 4;
/** Time after which an operator goes back to the end of the line, in milliseconds. */
const TIME_PER_TURN_MS = 10_000;
/** How long a stop waits for calls in flight, in milliseconds. A transaction that is cut off is due again later. */
const STOP_MS = 5_000;

/**
 * Resolves transactions that their provider does not retry. Parks a transaction that is still undecided after a day of
 * attempts, and a BET if the operator DECLINED the platform's ROLLBACK of it. Contract, section 3, "Undecided
 * transactions without a retry". Any number of instances may run it, because a claim admits only one attempt.
 */
@Injectable()
export class Resolver {
  private readonly logger = new Logger('Resolver');
  private readonly loop: BackgroundLoop;
  /** The operators whose transactions are being resolved. A pass does not wait for them: a slow one delays no other. */
  private readonly underWay = new Map<string, Promise<void>>();
  /** The operators that wait in line. */
  private readonly waiting = new Set<string>();
  /** The first failure of a turn since the last pass, which then fails with it: the loop bounds the reports. */
  private failure: Error | undefined;

  constructor(
    private readonly undecided: UndecidedStore,
    private readonly resolution: ResolutionService,
    private readonly parking: Parking,
    private readonly randomness: Randomness,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
    private readonly clock: Clock,
    background: Background,
  ) {
    this.loop = background.add({
      name: 'resolve undecided transactions',
      intervalMs: POLL_MS,
      stopMs: STOP_MS,
      work: () => this.lineUp(),
      inFlight: () => [...this.underWay.values()],
      onError: (detail) => this.logger.error({ msg: 'resolver pass failed', detail }),
    });
  }

  /** Resolves what is due now. Never rejects. */
  async tick(): Promise<void> {
    await this.loop.run();
    while (this.underWay.size > 0) await Promise.all(this.underWay.values());
  }

  private async lineUp(): Promise<void> {
    for (const operatorId of await this.undecided.operators()) {
      if (!this.underWay.has(operatorId)) this.waiting.add(operatorId);
    }
    this.beginTurns();
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
  }

  private beginTurns(): void {
    for (const operatorId of this.waiting) {
      if (this.underWay.size >= CONCURRENT_OPERATORS || this.loop.stopping) return;
      this.waiting.delete(operatorId);
      this.underWay.set(operatorId, this.takeTurn(operatorId));
    }
  }

  private async takeTurn(operatorId: string): Promise<void> {
    try {
      if ((await this.resolveOperator(operatorId)) === 'time-is-over') this.waiting.add(operatorId);
    } catch (error) {
      this.failure ??= new Error(`operator ${operatorId}: ${failureText(error)}`);
    } finally {
      this.underWay.delete(operatorId);
      this.beginTurns();
    }
  }

  /** Resolves one operator's transactions until none is due or a bound is reached. */
  private async resolveOperator(operatorId: string): Promise<'ended' | 'time-is-over'> {
    let failures = 0;
    const endMs = this.clock.monotonicMs() + TIME_PER_TURN_MS;
    const timeIsOver = () => this.clock.monotonicMs() >= endMs;
    const mustStop = () => this.loop.stopping || failures >= FAILURES_PER_TURN || timeIsOver();
    let after: DueTransaction | undefined;
    while (!mustStop()) {
      const due = await this.undecided.due(operatorId, BATCH, after);
      await concurrently(CONCURRENT_CALLS, due, async (transaction) => {
        if (mustStop()) return;
        const resolved = await this.resolve(transaction);
        if (resolved?.to === 'unknown' && resolved.operatorFailed) failures += 1;
      });
      after = due.at(-1);
      if (due.length < BATCH) break;
    }
    return timeIsOver() && failures < FAILURES_PER_TURN ? 'time-is-over' : 'ended';
  }

  /** @returns undefined if it failed: this is only logged, so that it does not block later transactions */
  private resolve(due: DueTransaction): Promise<ResolveOutcome | undefined> {
    // The attempt, its log lines and the call to the operator carry this id, as for an incoming request.
    const requestId = `resolver-${this.randomness.uuid()}`;
    return this.tracing.runWork('resolve', requestId, { actor: 'resolver', ...keysOf(due) }, () =>
      this.resolveTraced(due).catch((error: unknown) => {
        const detail = failureText(error);
        this.logger.error({ msg: 'resolving a transaction failed', detail });
        return undefined;
      }),
    );
  }

  private async resolveTraced(due: DueTransaction): Promise<ResolveOutcome> {
    const resolved: ResolveOutcome = due.givenUp
      ? { to: 'for-a-person' }
      : await this.resolution.resolve(due, 'resolver');
    if (resolved.to === 'for-a-person' || resolved.to === 'ending-declined') {
      const because = due.givenUp ? 'undecided after 24 hours' : 'the rollback was declined';
      if (await this.parking.park(due, because)) this.metrics.transactionResolved(due.operatorId, 'parked');
    } else {
      this.report(due, resolved);
    }
    return resolved;
  }

  private report(due: DueTransaction, { to }: ResolveOutcome): void {
    if (to === 'in-flight' || to === 'decided-before' || to === 'not-found') return;
    this.metrics.transactionResolved(due.operatorId, to);
    if (to === 'unknown') this.logger.warn({ msg: 'transaction not resolved yet' });
    else this.logger.log({ msg: 'transaction resolved', outcome: to });
  }
}

/** The fields by which every log line names the transaction. */
function keysOf({ providerId, transactionId, operatorId }: DueTransaction) {
  return { providerId, transactionId, operatorId };
}

/** Processes the items, at most `limit` at a time. `work` must not reject. */
async function concurrently<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const remaining = [...items];
  const worker = async () => {
    for (let item = remaining.shift(); item !== undefined; item = remaining.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, remaining.length) }, worker));
}
