import { monotonicMs } from '../../runtime/clock.js';
import { networkOf } from '../../http/server/network.js';

/** Requests at once, and the rate at which they come back. A page takes seven: an office behind one address has 70. */
const BURST = 500;
const PER_SECOND = 50;
/** Addresses that are remembered; beyond it the oldest is forgotten, which gives it a full budget again. Some 1 MB. */
const REMEMBERED = 10_000;

/** Bounds how often an address may load documents, so that they cannot be used to occupy the service. */
export class DocumentBudget {
  private readonly left = new Map<string, { requests: number; atMs: number }>();

  constructor(private readonly nowMs: () => number = monotonicMs) {}

  /** @returns 0 if the request may be answered; else the seconds to wait, at least 1 */
  spend(address: string): number {
    const network = networkOf(address);
    const nowMs = this.nowMs();
    const before = this.left.get(network) ?? { requests: BURST, atMs: nowMs };
    const requests = Math.min(BURST, before.requests + ((nowMs - before.atMs) / 1000) * PER_SECOND);
    if (requests < 1) return Math.ceil((1 - requests) / PER_SECOND);
    this.remember(network, { requests: requests - 1, atMs: nowMs });
    return 0;
  }

  /** A Map keeps its keys in order of insertion: the first is the one that has not been seen for the longest time. */
  private remember(network: string, left: { requests: number; atMs: number }): void {
    this.left.delete(network);
    this.left.set(network, left);
    if (this.left.size > REMEMBERED) this.left.delete(this.left.keys().next().value!);
  }
}
