/** Length of the window in which calls are counted, and of its slots, in milliseconds. */
export const WINDOW_MS = 30_000;
const SLOT_MS = 1_000;
const SLOTS = WINDOW_MS / SLOT_MS;
/** Minimum number of calls for the breaker to open. */
export const MIN_CALLS = 20;
/** Shortest interval between two BETs that an open breaker admits, in milliseconds. */
export const PROBE_INTERVAL_MS = 1_000;

/**
 * The result of a call for the breaker. `failed`: no complete HTTP answer arrived, because the call timed out or its
 * connection failed. Any other outcome, whatever the HTTP status, counts as `answered`.
 */
export type CallResult = 'answered' | 'failed';

/**
 * The breaker of one operator. It is open while at least 20 calls have ended within the last 30 seconds and more than half
 * of them failed. A call counts when it ends, because a time-out may be longer than the window. Contract, section 9.
 *
 * All times are milliseconds of the same monotonic clock.
 */
export class Breaker {
  /** One slot for each second of the window, in a ring. */
  private readonly slots = Array.from({ length: SLOTS }, () => ({ calls: 0, failed: 0 }));
  private calls = 0;
  private failed = 0;
  private latestSlot = 0;
  private probedMs = -Infinity;

  record(result: CallResult, nowMs: number): void {
    this.advance(nowMs);
    const slot = this.slots[this.latestSlot % SLOTS]!;
    slot.calls += 1;
    this.calls += 1;
    if (result === 'answered') return;
    slot.failed += 1;
    this.failed += 1;
  }

  isOpen(nowMs: number): boolean {
    this.advance(nowMs);
    return this.calls >= MIN_CALLS && this.failed * 2 > this.calls;
  }

  /** Admits or refuses a BET. An open breaker admits at most one each second, as a probe. */
  admitBet(nowMs: number): boolean {
    if (!this.isOpen(nowMs)) return true;
    if (nowMs - this.probedMs < PROBE_INTERVAL_MS) return false;
    this.probedMs = nowMs;
    return true;
  }

  /** Forgets the slots that have left the window. */
  private advance(nowMs: number): void {
    const current = Math.floor(nowMs / SLOT_MS);
    if (current - this.latestSlot > SLOTS) this.latestSlot = current - SLOTS;
    while (this.latestSlot < current) {
      this.latestSlot += 1;
      const slot = this.slots[this.latestSlot % SLOTS]!;
      this.calls -= slot.calls;
      this.failed -= slot.failed;
      slot.calls = 0;
      slot.failed = 0;
    }
  }
}
