import { Injectable } from '@nestjs/common';
import type { CroupierError } from '../errors/croupier-error.js';
import { overloaded } from '../errors/try-later.js';
import { Metrics } from '../observability/metrics.js';

/**
 * Maximum number of reads under way at an instance: half of the pool's connections. The others remain for launches,
 * ROLLBACKs, background work and the readiness check, even if every read takes until its statement's time-out.
 */
const MAX_READS = 10;
/** Maximum number of reads under way of one caller: too few to keep all other callers waiting. */
const MAX_READS_OF_ONE = 4;
/** Maximum number of requests of one caller that wait to read. Each waiting request takes memory. */
const MAX_WAITING_OF_ONE = 200;
/** Longest wait of a request, in milliseconds. */
const LONGEST_WAIT_MS = 3_000;
/**
 * Longest wait for a further page of an answer that has begun, in milliseconds. Such an answer cannot be refused any
 * more, so it waits longer before it is cut off.
 */
const LONGEST_WAIT_OF_BEGUN_MS = 60_000;
const RETRY_AFTER_SECONDS = 1;

interface CallerReads {
  underWay: number;
  /** Each begins a waiting read, in order of arrival. */
  readonly waiting: Set<() => void>;
}

/**
 * Bounds the connections that the reads of administrators and operators take from the pool, which all requests share: a
 * page of a list may read for hundreds of milliseconds. Reads beyond the bound wait, and callers take turns. Contract,
 * section 9, "Health and pauses".
 */
@Injectable()
export class ReadTurns {
  private underWay = 0;
  /** The callers with reads, the next one in turn first. */
  private readonly callers = new Map<string, CallerReads>();

  constructor(private readonly metrics: Metrics) {}

  /**
   * Runs a read, if necessary after a wait.
   * @param caller identifies the operator or administrator
   * @param of whether the read decides how the request is answered, or continues an answer that has begun
   * @throws CroupierError OVERLOADED if the read waited too long, or is a request and too many requests of its caller
   *   wait; and what `read` throws
   */
  async run<T>(caller: string, of: 'request' | 'begun', read: () => Promise<T>): Promise<T> {
    await this.begin(caller, of);
    try {
      return await read();
    } finally {
      this.end(caller);
    }
  }

  private async begin(id: string, of: 'request' | 'begun'): Promise<void> {
    const caller = this.callers.get(id) ?? { underWay: 0, waiting: new Set() };
    if (this.underWay < MAX_READS && caller.underWay < MAX_READS_OF_ONE) return this.count(id, caller);
    if (of === 'request' && caller.waiting.size >= MAX_WAITING_OF_ONE) throw this.refusal('reads-full');
    this.callers.set(id, caller);
    await new Promise<void>((resolve, reject) => {
      const refuse = () => {
        caller.waiting.delete(begin);
        this.forgetIdle(id, caller);
        reject(this.refusal('reads-waited'));
      };
      const timer = setTimeout(refuse, of === 'begun' ? LONGEST_WAIT_OF_BEGUN_MS : LONGEST_WAIT_MS);
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      caller.waiting.add(begin);
    });
  }

  /** Counts a read that begins, and makes its caller the last one in turn. */
  private count(id: string, caller: CallerReads): void {
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

  /** Begins the read that the ended one kept waiting, if there is one. */
  private beginNext(): void {
    for (const [id, caller] of this.callers) {
      const [begin] = caller.waiting;
      if (!begin || caller.underWay >= MAX_READS_OF_ONE) continue;
      caller.waiting.delete(begin);
      this.count(id, caller);
      return begin();
    }
  }

  private forgetIdle(id: string, { underWay, waiting }: CallerReads): void {
    if (underWay === 0 && waiting.size === 0) this.callers.delete(id);
  }

  private refusal(reason: 'reads-full' | 'reads-waited'): CroupierError {
    this.metrics.overloadRefused(reason);
    return overloaded(
      RETRY_AFTER_SECONDS,
      'too many reads are under way; the same request may be tried again',
    );
  }
}
