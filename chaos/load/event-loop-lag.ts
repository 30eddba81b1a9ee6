/** Interval at which the lag is measured, in milliseconds. */
const TICK_MS = 25;
/** Lag that does not count, in milliseconds: a timer is always a little late. */
const USUAL_MS = 10;

/** A time in which this process noticed nothing, in Unix milliseconds. */
interface Stall {
  readonly from: number;
  readonly to: number;
}

/**
 * Measures for how long this process was too busy to notice anything, such as an answer. That time belongs to no delay
 * of the service.
 */
export class EventLoopLag {
  /** In the order of time; they do not overlap. */
  private readonly stalls: Stall[] = [];
  private tickedAt = performance.now();
  private timer: NodeJS.Timeout | undefined;

  start(): void {
    this.tickedAt = performance.now();
    this.timer = setInterval(() => {
      const stall = this.current();
      if (stall) this.stalls.push(stall);
      this.tickedAt = performance.now();
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** The lag in a period until now, in milliseconds. `from` is a Unix time in milliseconds. */
  since(from: number): number {
    const current = this.current();
    let sum = current ? partSince(current, from) : 0;
    for (let index = this.stalls.length - 1; index >= 0; index -= 1) {
      const part = partSince(this.stalls[index]!, from);
      if (part === 0) break;
      sum += part;
    }
    return Math.round(sum);
  }

  /** The sum of all lag and the longest one, in milliseconds. */
  get total(): { readonly sumMs: number; readonly longestMs: number } {
    const lengths = this.stalls.map(({ from, to }) => to - from);
    const sumMs = Math.round(lengths.reduce((sum, length) => sum + length, 0));
    return { sumMs, longestMs: Math.round(lengths.reduce((one, other) => Math.max(one, other), 0)) };
  }

  /** The stall whose end this process has just noticed, if its tick is overdue. */
  private current(): Stall | undefined {
    const lateMs = performance.now() - this.tickedAt - TICK_MS;
    if (!this.timer || lateMs < USUAL_MS) return undefined;
    const to = Date.now();
    return { from: to - lateMs, to };
  }
}

function partSince({ from, to }: Stall, since: number): number {
  return Math.max(0, to - Math.max(from, since));
}
