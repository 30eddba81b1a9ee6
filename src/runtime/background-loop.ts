import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './clock.js';
import { failureText } from './failure-text.js';

/** Interval of the reports while each pass fails, in milliseconds. */
const REPORT_EVERY_MS = 60_000;

export interface BackgroundLoopOptions {
  /**
   * One pass. It must tolerate repetition: another instance, or this one before a crash, may already have done the
   * work.
   * @param isLast whether `finish` has requested it
   */
  readonly work: (isLast: boolean) => Promise<void>;
  /**
   * Called with the reason when a pass fails; of consecutive failures, with the first, then at most one a minute, and
   * that of the last pass. The loop continues. It must not throw.
   */
  readonly onError: (detail: string) => void;
  /** Called when a pass succeeds after one that failed. It must not throw. */
  readonly onRecovery?: () => void;
  /** Polling interval, in milliseconds. The timer starts a pass only when all earlier passes have ended. */
  readonly intervalMs: number;
  /** Delay before the first pass, in milliseconds; `intervalMs` by default. */
  readonly firstAfterMs?: number;
  /** Promises of work that a pass started but did not await. `stop` waits for them. They must not reject. */
  readonly inFlight?: () => readonly Promise<void>[];
}

/**
 * Repeats work at an interval and on request, one pass at a time, until it is stopped. Its timer does not keep the
 * process alive. A pass is no part of the request that asks for it: its log lines do not name that request.
 */
export class BackgroundLoop {
  private timer: NodeJS.Timeout | undefined;
  private last: Promise<void> = Promise.resolve();
  /** The requested pass that has not begun. */
  private next: Promise<void> | undefined;
  private unfinished = 0;
  /** The monotonic time of the last report of a failure; undefined if the last pass succeeded. */
  private reportedMs: number | undefined;
  private finishing = false;
  private stopped: Promise<void> | undefined;
  /** Runs a pass with the async context of the constructor, not with that of a request that has called `run`. */
  private readonly outside = AsyncLocalStorage.snapshot();

  constructor(private readonly options: BackgroundLoopOptions) {}

  get stopping(): boolean {
    return this.stopped !== undefined;
  }

  /** Whether the last pass failed. */
  get failing(): boolean {
    return this.reportedMs !== undefined;
  }

  start(): void {
    const { intervalMs, firstAfterMs = intervalMs } = this.options;
    const tick = () => {
      if (this.unfinished === 0) void this.run();
    };
    this.timer = setTimeout(() => {
      this.timer = setInterval(tick, intervalMs).unref();
      tick();
    }, firstAfterMs).unref();
  }

  /**
   * Requests a pass that begins after this call. A pass that is already running may have read the data before the
   * caller changed them. Several calls share one pass if it has not begun yet. After `stop` no pass is requested.
   * @returns resolves when that pass has ended, even if it failed, and at once after `stop`; never rejects
   */
  run(): Promise<void> {
    if (this.stopping) return Promise.resolve();
    if (!this.next) {
      this.unfinished += 1;
      this.next = this.last.then(() => this.outside(() => this.pass()));
      this.last = this.next;
    }
    return this.next;
  }

  /**
   * Ends the loop: accepts no further request, and waits for the requested passes and their work in flight. A second
   * call waits for the first one.
   * @param patienceMs longest wait, in milliseconds
   */
  stop(patienceMs: number): Promise<void> {
    clearTimeout(this.timer);
    this.stopped ??= this.end(patienceMs);
    return this.stopped;
  }

  /** Runs a last pass, and ends the loop like `stop`. */
  finish(patienceMs: number): Promise<void> {
    this.finishing = true;
    void this.run();
    return this.stop(patienceMs);
  }

  private async end(patienceMs: number): Promise<void> {
    const finished = this.last.then(() => Promise.all(this.options.inFlight?.() ?? []));
    await Promise.race([finished, sleep(patienceMs, undefined, { ref: false })]);
  }

  private async pass(): Promise<void> {
    this.next = undefined;
    try {
      await this.options.work(this.finishing);
      if (this.failing) this.options.onRecovery?.();
      this.reportedMs = undefined;
    } catch (error) {
      this.report(error);
    } finally {
      this.unfinished -= 1;
    }
  }

  private report(error: unknown): void {
    const nowMs = monotonicMs();
    const isRecent = this.reportedMs !== undefined && nowMs - this.reportedMs < REPORT_EVERY_MS;
    if (isRecent && !this.finishing) return;
    this.reportedMs = nowMs;
    this.options.onError(failureText(error));
  }
}
