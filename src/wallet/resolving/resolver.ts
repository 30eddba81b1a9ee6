import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Metrics } from '../../observability/metrics.js';
import { newTrace, runTraced } from '../../observability/trace.js';
import { monotonicMs } from '../../runtime/clock.js';
import { Randomness } from '../../runtime/randomness.js';
import { ResolutionService, type Resolved } from './resolution.service.js';
import { type Due, UndecidedStore } from './undecided.store.js';

/** How often is looked for what is due, in milliseconds. */
const TICK_MS = 10_000;
/** Operators that are asked at once, and calls to one of them at once. */
const OPERATORS_AT_ONCE = 16;
const CALLS_AT_ONCE = 4;
/** Of one operator, how many transactions are taken with one look, and with one tick. */
const BATCH = 25;
const BATCHES_PER_TICK = 40;
/** Calls in vain, after which an operator is left alone until the next tick. */
const FAILURES_PER_TICK = 4;
/** How long a stop waits for calls in flight, in milliseconds: what is cut off is a lease that runs out. */
const STOP_MS = 5_000;

/**
 * Takes up what nobody retries, by and by, and leaves to a person what a day of attempts did not decide. Contract,
 * section 3, "What nobody retries". Any number of instances may do so at once: the claim decides.
 */
@Injectable()
export class Resolver implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Resolver');
  private timer: NodeJS.Timeout | undefined;
  private ticking: Promise<void> = Promise.resolve();
  private waiting = 0;
  private stopping = false;
  private stopBy = Infinity;

  constructor(
    private readonly undecided: UndecidedStore,
    private readonly resolution: ResolutionService,
    private readonly randomness: Randomness,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      if (this.waiting === 0) void this.tick();
    }, TICK_MS).unref();
  }

  onModuleDestroy(): void {
    this.stopping = true;
    this.stopBy = monotonicMs() + STOP_MS;
    clearInterval(this.timer);
  }

  async beforeApplicationShutdown(): Promise<void> {
    const patienceMs = Math.max(0, this.stopBy - monotonicMs());
    await Promise.race([this.ticking, sleep(patienceMs, undefined, { ref: false })]);
  }

  /** Works off what is due now, after the ticks that were begun before. Never rejects. */
  tick(): Promise<void> {
    this.waiting += 1;
    this.ticking = this.ticking
      .then(() => this.run())
      .catch((error: unknown) => {
        this.logger.error({ msg: 'the resolver is interrupted', detail: (error as Error).message });
      })
      .finally(() => (this.waiting -= 1));
    return this.ticking;
  }

  private async run(): Promise<void> {
    const operators = await this.undecided.operators();
    await inLanes(OPERATORS_AT_ONCE, operators, (operatorId) => this.workOff(operatorId));
  }

  /** One operator's share: as long as it answers, until nothing of its is due. */
  private async workOff(operatorId: string): Promise<void> {
    let failures = 0;
    const enough = () => this.stopping || failures >= FAILURES_PER_TICK;
    for (let batch = 0; batch < BATCHES_PER_TICK && !enough(); batch += 1) {
      const due = await this.undecided.due(operatorId, BATCH);
      let moved = 0;
      await inLanes(CALLS_AT_ONCE, due, async (transaction) => {
        if (enough()) return;
        const resolved = await this.resolve(transaction);
        if (resolved.to !== 'in-flight') moved += 1;
        if (resolved.to === 'unknown' && resolved.operatorFailed) failures += 1;
      });
      if (due.length < BATCH || moved === 0) return;
    }
  }

  private resolve(due: Due): Promise<Resolved> {
    // The attempt, its log lines and the operator's request bear this id, as if a request had come.
    const requestId = `resolver-${this.randomness.uuid()}`;
    return runTraced(newTrace(requestId), async () => {
      const resolved: Resolved = due.givenUp
        ? { to: 'for-a-person' }
        : await this.resolution.resolve(due, 'resolver');
      if (resolved.to === 'for-a-person' || resolved.to === 'ending-declined') await this.park(due, resolved);
      else this.tell(due, resolved);
      return resolved;
    });
  }

  private async park(due: Due, { to }: Resolved): Promise<void> {
    if (!(await this.undecided.park(due))) return;
    const because =
      to === 'ending-declined' || !due.givenUp ? 'the rollback was declined' : '24 hours in vain';
    this.metrics.resolutions.inc({ outcome: 'parked' });
    this.logger.error({ ...this.line(due), msg: 'transaction parked for a person', because });
  }

  private tell(due: Due, { to }: Resolved): void {
    if (to === 'in-flight' || to === 'decided-before' || to === 'not-found') return;
    this.metrics.resolutions.inc({ outcome: to });
    if (to === 'unknown') this.logger.warn({ ...this.line(due), msg: 'transaction not resolved yet' });
    else this.logger.log({ ...this.line(due), msg: 'transaction resolved', outcome: to });
  }

  private line({ providerId, transactionId, operatorId }: Due) {
    return { providerId, transactionId, operatorId };
  }
}

/** Does the work of all items, so many at once; one that fails ends the whole after the others' present ones. */
async function inLanes<T>(
  lanes: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  const results = await Promise.allSettled(Array.from({ length: Math.min(lanes, left.length) }, lane));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
