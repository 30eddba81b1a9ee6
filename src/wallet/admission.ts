import { Injectable } from '@nestjs/common';
import { BATCH_LIMIT } from '../database/group-commit.js';
import type { CroupierError } from '../errors/croupier-error.js';
import { overloaded } from '../errors/try-later.js';
import { Metrics } from '../observability/metrics.js';
import { monotonicMs } from '../runtime/clock.js';

/**
 * Maximum number of requests that load and claim at the same time: enough to fill the current batch of the group commit
 * and the next one. Further requests would only wait for their batch.
 */
export const MAX_CLAIMING = 2 * BATCH_LIMIT;
/**
 * Maximum numbers of requests between arrival and answer, to bound the memory in use. Above the first number, BETs and
 * balance reads are refused; above the second, all requests.
 */
const MAX_UNDER_WAY = 4_000;
const MAX_UNDER_WAY_SETTLING = 6_000;
/**
 * Longest wait for admission, in milliseconds. With a shorter wait, more requests would be refused. A refusal costs a
 * large part of the work of a BET, so clients that soon repeat refused requests would take capacity from admitted
 * requests.
 */
const LONGEST_WAIT_MS = 3_000;
/**
 * Maximum number of requests of each class that are refused at once. Requests that arrived together also exceed the
 * longest wait together. Refusing all of them at once would delay every other request, and the clients would repeat the
 * refused requests at the same time.
 */
const REFUSALS_AT_ONCE = 32;
/** Shortest pause before the next requests are refused, in milliseconds. */
const REFUSAL_PAUSE_MS = 10;
const RETRY_AFTER_SECONDS = 1;

/** Classes of requests: BETs and balance reads begin new work; WINs and ROLLBACKs settle what has begun. */
type AdmissionClass = 'beginning' | 'settling';

/** A request under way. */
export interface RequestUnderWay {
  /** Ends loading and claiming, so that the next request may begin. Repeated calls have no effect. */
  endClaiming(): void;
  /** Ends the request, once its answer is known. Must be called exactly once. */
  leave(): void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly admit: () => void;
  readonly refuse: (error: CroupierError) => void;
}

/**
 * Keeps an overloaded instance useful: at most `MAX_CLAIMING` requests load and claim at a time, and the others wait. A
 * request that waits too long is refused before anything is claimed. Contract, section 9, "Health and pauses".
 *
 * Settling requests are admitted first, in order of arrival. Of the others, the newest is admitted first: under
 * overload, the requests that are served have waited only milliseconds, and those that are refused have waited longest.
 */
@Injectable()
export class Admission {
  private underWay = 0;
  private claiming = 0;
  /** Both queues are in order of arrival. */
  private readonly settling: Waiting[] = [];
  private readonly beginning: Waiting[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly metrics: Metrics) {}

  /**
   * Admits a request, if necessary after a wait.
   * @throws CroupierError OVERLOADED if too many requests are under way, or admission takes longer than three seconds
   */
  async enter(of: AdmissionClass): Promise<RequestUnderWay> {
    if (this.underWay >= (of === 'settling' ? MAX_UNDER_WAY_SETTLING : MAX_UNDER_WAY)) {
      throw this.refusal('full');
    }
    this.underWay += 1;
    if (this.claiming < MAX_CLAIMING) {
      this.claiming += 1;
      return this.admitted();
    }
    await this.wait(this[of]);
    return this.admitted();
  }

  private wait(queue: Waiting[]): Promise<void> {
    return new Promise((admit, reject) => {
      const refuse = (error: CroupierError) => {
        this.underWay -= 1;
        reject(error);
      };
      queue.push({ sinceMs: monotonicMs(), admit, refuse });
      this.timer ??= setTimeout(() => this.refuseLate(), LONGEST_WAIT_MS);
    });
  }

  private admitted(): RequestUnderWay {
    let claiming = true;
    const endClaiming = () => {
      if (claiming) this.admitNext();
      claiming = false;
    };
    return {
      endClaiming,
      leave: () => {
        endClaiming();
        this.underWay -= 1;
      },
    };
  }

  /** Admits the next request in place of one that has finished claiming. */
  private admitNext(): void {
    const next = this.settling.shift() ?? this.beginning.pop();
    if (next) next.admit();
    else this.claiming -= 1;
  }

  /** Refuses requests that have waited too long, and schedules the next check. */
  private refuseLate(): void {
    const lateMs = monotonicMs() - LONGEST_WAIT_MS;
    for (const queue of [this.beginning, this.settling]) {
      for (let refused = 0; refused < REFUSALS_AT_ONCE; refused += 1) {
        if (!queue[0] || queue[0].sinceMs > lateMs) break;
        queue.shift()?.refuse(this.refusal('waited'));
      }
    }
    const oldestMs = Math.min(this.settling[0]?.sinceMs ?? Infinity, this.beginning[0]?.sinceMs ?? Infinity);
    const pauseMs = Math.max(REFUSAL_PAUSE_MS, Math.ceil(oldestMs - lateMs));
    this.timer = oldestMs === Infinity ? undefined : setTimeout(() => this.refuseLate(), pauseMs);
  }

  private refusal(reason: 'full' | 'waited'): CroupierError {
    this.metrics.overloadRefused(reason);
    return overloaded(RETRY_AFTER_SECONDS);
  }
}
