import { Injectable, Logger } from '@nestjs/common';
import { Background } from '../runtime/background.js';
import { Clock } from '../runtime/clock.js';
import type { Actor } from './actor.js';
import { Audit } from './audit.service.js';
import type { NewEntry } from './entry.js';

/** How long repetitions are counted before their number is recorded, in milliseconds. Contract, section 9. */
const WINDOW_MS = 60_000;
/** Interval of the check for windows that have ended, in milliseconds. */
const POLL_MS = 1_000;
/** Maximum number of windows, which take a few megabytes. Beyond it, each repetition has an entry of its own. */
const MAX_WINDOWS = 1_000;
/** How long a stop waits until the repetitions of all windows are recorded, in milliseconds. */
const STOP_MS = 5_000;

interface Window {
  readonly actor: Actor;
  readonly entry: NewEntry;
  readonly openedAt: Date;
  /** The monotonic time. */
  readonly openedMs: number;
  /** Resolves when the first entry is recorded. */
  readonly recorded: Promise<void>;
  repeats: number;
  lastAt: Date;
}

/**
 * Records entries that clients cause by polling. The first is recorded at once. Its repetitions within the next minute
 * are counted and recorded in one entry, with `repeats`, `from` and `to` in `after`. A killed instance loses that
 * count, but not the first entry. Contract, section 9, "Roles".
 */
@Injectable()
export class RepeatedEntries {
  private readonly logger = new Logger('Audit');
  private readonly windows = new Map<string, Window>();
  /** Windows whose time is over. One that cannot be recorded stays here, and the next pass tries again. */
  private readonly ended: Window[] = [];

  constructor(
    private readonly audit: Audit,
    private readonly clock: Clock,
    background: Background,
  ) {
    background.add({
      name: 'record repeated audit entries',
      intervalMs: POLL_MS,
      stopMs: STOP_MS,
      lastPass: 'after-requests',
      work: (isLast) => this.closeWindows(isLast),
      onError: (detail) => this.logger.error({ msg: 'repeated audit entries cannot be recorded', detail }),
    });
  }

  /**
   * Resolves when this entry, or the one that it repeats, is recorded; rejects if that failed.
   * @param spend called before the entry is recorded, unless it is a repetition, which is only counted. If it throws,
   *   the entry is not recorded.
   */
  async record(actor: Actor, entry: NewEntry, spend?: () => void): Promise<void> {
    const key = JSON.stringify([actor.actor, actor.role, actor.address, entry]);
    const open = this.windows.get(key);
    if (open) {
      open.repeats += 1;
      open.lastAt = this.clock.now();
      return open.recorded;
    }
    spend?.();
    if (this.windows.size + this.ended.length >= MAX_WINDOWS) return this.audit.record(actor, entry);
    const openedAt = this.clock.now();
    const openedMs = this.clock.monotonicMs();
    const recorded = this.audit.record(actor, entry);
    this.windows.set(key, { actor, entry, openedAt, openedMs, recorded, repeats: 0, lastAt: openedAt });
    try {
      await recorded;
    } catch (error) {
      // The recording may have failed after the window's end, when the key has another window.
      if (this.windows.get(key)?.recorded === recorded) this.windows.delete(key);
      throw error;
    }
  }

  /** Records the repetitions of the windows whose time is over, or of all windows. */
  private async closeWindows(all: boolean): Promise<void> {
    const overMs = this.clock.monotonicMs() - WINDOW_MS;
    for (const [key, window] of this.windows) {
      if (!all && window.openedMs > overMs) continue;
      this.windows.delete(key);
      if (window.repeats > 0) this.ended.push(window);
    }
    for (let window = this.ended.shift(); window; window = this.ended.shift()) {
      const { actor, entry, repeats, openedAt: from, lastAt: to } = window;
      try {
        await this.audit.record(actor, { ...entry, after: { ...entry.after, repeats, from, to } });
      } catch (error) {
        this.ended.unshift(window);
        throw error;
      }
    }
  }
}
