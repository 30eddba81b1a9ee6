/** The breaker counts the calls that ended in the last WINDOW_MS milliseconds, in slots of SLOT_MS milliseconds. */
export const WINDOW_MS = 30_000;
const SLOT_MS = 1_000;
const SLOTS = WINDOW_MS / SLOT_MS;
export const MIN_CALLS = 20;
export const PROBE_INTERVAL_MS = 1_000;

/**
 * How the breaker counts a call. `answered`: an HTTP answer arrived, whatever its status or size. `failed`: no complete
 * answer arrived, for example because the call timed out.
 */
type CallResult = 'answered' | 'failed';

/**
 * The breaker of one operator. It is open while at least 20 calls have ended within the last 30 seconds and more than
 * half of them failed. A call is counted when it ends, because a time-out may be longer than the window. Contract,
 * section 9.
 *
 * All times are milliseconds of the same monotonic clock.
 */
export class Breaker {
  /** A ring buffer with one slot for each second of the window. */
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

  /** Whether a BET is admitted. An open breaker admits at most one each second, as a probe. */
  admitBet(nowMs: number): boolean {
    if (!this.isOpen(nowMs)) return true;
    if (nowMs - this.probedMs < PROBE_INTERVAL_MS) return false;
    this.probedMs = nowMs;
    return true;
  }

  /** Subtracts the calls of slots that have left the window. */
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
