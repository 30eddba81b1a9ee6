import { Injectable } from '@nestjs/common';
import type { CroupierError } from '../errors/croupier-error.js';
import { overloaded } from '../errors/try-later.js';
import { Metrics } from '../observability/metrics.js';
import { measure } from '../observability/trace.js';

interface Bounds {
  readonly of: 'reads' | 'changes';
  /** Maximum number under way at an instance. */
  readonly underWay: number;
  /** Maximum number under way of one caller: too few to keep all other callers waiting. */
  readonly underWayOfOne: number;
  /** Longest wait of a request, in milliseconds. */
  readonly longestWaitMs: number;
}

/** Half of the pool's connections. */
const READS: Bounds = { of: 'reads', underWay: 10, underWayOfOne: 4, longestWaitMs: 3_000 };
/**
 * Beside the reads, leaves four connections of the pool to launches, ROLLBACKs, background work and the readiness check,
 * even if all reads and changes take until a statement's time-out. One caller would gain nothing from more than two,
 * because appends to the audit log are serialised. For the same reason a burst of one caller takes seconds on a small
 * machine, so a change waits longer than a read.
 */
const CHANGES: Bounds = { of: 'changes', underWay: 6, underWayOfOne: 2, longestWaitMs: 10_000 };

/** Maximum number of requests of one caller that wait. Each waiting request takes memory. */
const MAX_WAITING_OF_ONE = 200;
/** Longest wait of work that has begun, in milliseconds. */
const LONGEST_WAIT_OF_BEGUN_MS = 60_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * `request` if the work decides how the request is answered. `begun` if a refusal would cut off an answer, leave an
 * action unrecorded or half done, or discard long work: then it waits longer.
 */
export type Stage = 'request' | 'begun';

interface CallerWork {
  underWay: number;
  /** Each begins waiting work, in order of arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * Bounds the connections that the reads and the audited changes of administrators and operators take from the pool,
 * which all requests share: a page of a list may read for hundreds of milliseconds, and a change may wait for a lock.
 * Work beyond the bound waits without a connection, and callers take turns. Contract, section 9, "Health and pauses".
 */
@Injectable()
export class Turns {
  readonly reads: CallerTurns;
  /** A read may take a turn of a change in its own turn, to be recorded; never the reverse. */
  readonly changes: CallerTurns;

  constructor(metrics: Metrics) {
    this.reads = new CallerTurns(READS, metrics);
    this.changes = new CallerTurns(CHANGES, metrics);
  }
}

class CallerTurns {
  private underWay = 0;
  /** The callers with work, the next one in turn first. */
  private readonly callers = new Map<string, CallerWork>();

  constructor(
    private readonly bounds: Bounds,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Runs the work, if necessary after a wait. The work must not call `run` for the same turns: its caller could have no
   * turn left.
   * @param caller identifies the operator or administrator
   * @throws CroupierError OVERLOADED if the work waited too long, or is a request and too many requests of its caller
   *   wait; and what `work` throws
   */
  async run<T>(caller: string, stage: Stage, work: () => Promise<T>): Promise<T> {
    await this.begin(caller, stage);
    try {
      return await measure(this.bounds.of, work);
    } finally {
      this.end(caller);
    }
  }

  private async begin(id: string, stage: Stage): Promise<void> {
    const caller = this.callers.get(id) ?? { underWay: 0, waiting: new Set() };
    if (this.underWay < this.bounds.underWay && caller.underWay < this.bounds.underWayOfOne)
      return this.count(id, caller);
    if (stage === 'request' && caller.waiting.size >= MAX_WAITING_OF_ONE) throw this.refusal('full');
    this.callers.set(id, caller);
    const turn = new Promise<void>((resolve, reject) => {
      const refuse = () => {
        caller.waiting.delete(begin);
        this.forgetIdle(id, caller);
        reject(this.refusal('waited'));
      };
      const waitMs = stage === 'begun' ? LONGEST_WAIT_OF_BEGUN_MS : this.bounds.longestWaitMs;
      const timer = setTimeout(refuse, waitMs);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      caller.waiting.add(begin);
    });
    await measure('wait', () => turn);
  }

  /** Counts work that begins, and makes its caller the last one in turn. */
  private count(id: string, caller: CallerWork): void {
    this.underWay += 1;
    caller.underWay += 1;
    this.callers.delete(id);
    this.callers.set(id, caller);
  }

  private end(id: string): void {
    const caller = this.callers.get(id)!;
    this.underWay -= 1;
    caller.underWay -= 1;
    this.forgetIdle(id, caller);
    this.beginNext();
  }

  /** Begins the work that the ended one kept waiting, if there is any. */
  private beginNext(): void {
    for (const [id, caller] of this.callers) {
      const [begin] = caller.waiting;
      if (!begin || caller.underWay >= this.bounds.underWayOfOne) continue;
      caller.waiting.delete(begin);
      this.count(id, caller);
      return begin();
    }
  }

  private forgetIdle(id: string, { underWay, waiting }: CallerWork): void {
    if (underWay === 0 && waiting.size === 0) this.callers.delete(id);
  }

  private refusal(reason: 'full' | 'waited'): CroupierError {
    this.metrics.overloadRefused(`${this.bounds.of}-${reason}`);
    const message = `too many ${this.bounds.of} are under way; the same request may be tried again`;
    return overloaded(RETRY_AFTER_SECONDS, message);
  }
}
