import { rateLimited } from '../errors/try-later.js';
import type { Clock } from '../runtime/clock.js';
import { CountingWindows } from '../runtime/counting-windows.js';
import type { Actor } from './actor.js';

/** Length of a window, in milliseconds. An actor's first entry opens it. Contract, section 9, "Roles". */
const WINDOW_MS = 60_000;

/**
 * Bounds the number of entries that the calls of one actor cause at this instance within a minute. Every append waits
 * for the one before it, so an unbounded number of entries would delay the changes of all other actors.
 */
export class EntryBudget {
  private readonly windows: CountingWindows;

  /** @param entries number of entries in one window after which the actor has to wait for the window's end */
  constructor(
    private readonly entries: number,
    clock: Clock,
  ) {
    this.windows = new CountingWindows(() => clock.monotonicMs());
  }

  /** @throws CroupierError RATE_LIMITED if the actor has spent the budget of the current window */
  requireRest({ actor }: Actor): void {
    const window = this.windows.current(actor);
    if (window && window.count >= this.entries) throw rateLimited(this.windows.secondsLeft(window));
  }

  spend({ actor }: Actor): void {
    this.windows.currentOrNew(actor, WINDOW_MS).count += 1;
  }
}
