/** Maximum number of keys; they take about 1 MB. Beyond it, the oldest window is forgotten. */
export const MAX_WINDOWS = 10_000;

export interface CountingWindow {
  count: number;
  /** The monotonic time at which the window ends, in milliseconds. */
  readonly endsAtMs: number;
}

/** Counts events per key in this process. A key's first event opens a window of fixed length. */
export class CountingWindows {
  /** By key, oldest window first. */
  private readonly windows = new Map<string, CountingWindow>();

  constructor(private readonly monotonicMs: () => number) {}

  /** The key's current window; undefined if there is none or it is over. */
  current(key: string): CountingWindow | undefined {
    const window = this.windows.get(key);
    return window && window.endsAtMs > this.monotonicMs() ? window : undefined;
  }

  /**
   * The key's current window, else a new one with count 0.
   * @param lengthMs length of a new window, in milliseconds
   */
  currentOrNew(key: string, lengthMs: number): CountingWindow {
    return this.current(key) ?? this.open(key, lengthMs);
  }

  /** Time until the window ends, in whole seconds, rounded up. */
  secondsLeft({ endsAtMs }: CountingWindow): number {
    return Math.ceil((endsAtMs - this.monotonicMs()) / 1000);
  }

  private open(key: string, lengthMs: number): CountingWindow {
    const window = { count: 0, endsAtMs: this.monotonicMs() + lengthMs };
    // A Map keeps the order of insertion: deleting first makes this window the last.
    this.windows.delete(key);
    this.windows.set(key, window);
    if (this.windows.size > MAX_WINDOWS) this.windows.delete(this.windows.keys().next().value!);
    return window;
  }
}
