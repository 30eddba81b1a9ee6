import { Injectable } from '@nestjs/common';
import { CroupierError } from '../errors/croupier-error.js';
import { Clock } from '../runtime/clock.js';

/** Refusals per window after which an administrator has to wait, and the window's length in milliseconds. */
const REFUSALS = 1_000;
const WINDOW_MS = 60_000;
/** Maximum number of remembered administrators, about 1 MB. Beyond it the oldest window is forgotten. */
const REMEMBERED = 10_000;

interface Window {
  refusals: number;
  readonly endsAtMs: number;
}

/**
 * Bounds the audit entries that one administrator's refused calls can cause, because each is an entry of its own and
 * appends wait for each other. Each instance counts for itself, in a window that the first refusal opens.
 */
@Injectable()
export class RefusalLimit {
  /** By actor, ordered by the time at which they were opened. */
  private readonly windows = new Map<string, Window>();

  constructor(private readonly clock: Clock) {}

  /**
   * Admits a call, unless too many of its actor's calls were refused within the window.
   *
   * @throws CroupierError RATE_LIMITED
   */
  admit(actor: string): void {
    const window = this.openWindow(actor);
    if (!window || window.refusals < REFUSALS) return;
    const waitSeconds = Math.ceil((window.endsAtMs - this.clock.monotonicMs()) / 1000);
    throw new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(waitSeconds) });
  }

  /** Counts a refusal of the actor. */
  count(actor: string): void {
    const window = this.openWindow(actor) ?? this.open(actor);
    window.refusals += 1;
  }

  private openWindow(actor: string): Window | undefined {
    const window = this.windows.get(actor);
    return window && window.endsAtMs > this.clock.monotonicMs() ? window : undefined;
  }

  private open(actor: string): Window {
    const window = { refusals: 0, endsAtMs: this.clock.monotonicMs() + WINDOW_MS };
    // A Map keeps the order of insertion: deleting first makes this window the last.
    this.windows.delete(actor);
    this.windows.set(actor, window);
    if (this.windows.size > REMEMBERED) this.windows.delete(this.windows.keys().next().value!);
    return window;
  }
}
