import { monotonicMs } from '../../runtime/clock.js';
import { networkOf } from '../../runtime/network.js';

/**
 * Size of the budget, in requests, and the number of requests by which it grows per second. A page takes eight
 * requests, so an office behind one address can load 70 pages at once.
 */
const BURST = 500;
const PER_SECOND = 50;
/**
 * Maximum number of remembered networks, which take about 1 MB. Beyond it, the network whose last answer is the oldest
 * is forgotten and gets its full budget again.
 */
const REMEMBERED = 10_000;

/** Limits how often a network (`networkOf`) may load documents, so that these requests cannot overload the service. */
export class DocumentBudget {
  private readonly left = new Map<string, { requests: number; atMs: number }>();

  constructor(private readonly nowMs: () => number = monotonicMs) {}

  /**
   * Takes one request from the budget of an address.
   * @returns 0 if the request may be answered; else the seconds to wait, at least 1
   */
  spend(address: string): number {
    const network = networkOf(address);
    const nowMs = this.nowMs();
    const before = this.left.get(network) ?? { requests: BURST, atMs: nowMs };
    const requests = Math.min(BURST, before.requests + ((nowMs - before.atMs) / 1000) * PER_SECOND);
    if (requests < 1) return Math.ceil((1 - requests) / PER_SECOND);
    this.remember(network, { requests: requests - 1, atMs: nowMs });
    return 0;
  }

  /** Moves the network to the end of the Map. A Map keeps the order of insertion, so its first entry is the oldest. */
  private remember(network: string, left: { requests: number; atMs: number }): void {
    this.left.delete(network);
    this.left.set(network, left);
    if (this.left.size > REMEMBERED) this.left.delete(this.left.keys().next().value!);
  }
}
