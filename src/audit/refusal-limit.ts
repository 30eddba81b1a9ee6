import { Injectable } from '@nestjs/common';
import { CroupierError } from '../errors/croupier-error.js';
import { Clock } from '../runtime/clock.js';
import { CountingWindows } from '../runtime/counting-windows.js';

/** Number of refusals in one window after which an administrator has to wait for the window's end. */
const REFUSALS = 1_000;
/** Length of a window, in milliseconds. An administrator's first refusal opens it. */
const WINDOW_MS = 60_000;

/**
 * Bounds the audit entries that one administrator's refused calls can cause, because appends wait for each other.
 * Refusals on polled routes are not counted. Each instance counts separately.
 */
@Injectable()
export class RefusalLimit {
  private readonly refusals: CountingWindows;

  constructor(clock: Clock) {
    this.refusals = new CountingWindows(() => clock.monotonicMs());
  }

  /**
   * Admits a call, unless too many calls of the actor were refused in the current window.
   *
   * @throws CroupierError RATE_LIMITED
   */
  admit(actor: string): void {
    const window = this.refusals.current(actor);
    if (!window || window.count < REFUSALS) return;
    const waitSeconds = this.refusals.secondsLeft(window);
    throw new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(waitSeconds) });
  }

  /** Counts a refused call of the actor. */
  count(actor: string): void {
    this.refusals.currentOrNew(actor, WINDOW_MS).count += 1;
  }
}
