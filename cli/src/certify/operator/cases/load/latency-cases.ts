import { type Latency, Unmet } from '../../../outcome.js';
import type { WalletCaller, WalletOrder } from '../../caller.js';
import { expectMovement } from '../../expectations.js';
import { RULES } from '../../rules.js';
import type { WalletCase } from '../wallet-case.js';

/** Number of concurrent calls, as a small platform makes them. */
const CONCURRENCY = 4;
/** The share of the platform's time-out that the 99th percentile may take; the rest is a reserve. */
const P99_PART = 0.5;

export const LATENCY_CASES: WalletCase[] = [
  {
    id: 'latency',
    title: "answers 99 of 100 calls within half of the platform's time-out, and the ledger adds up",
    rule: RULES.inTime,
    run: async (caller, measured) => {
      const limitMs = caller.wallet.timeoutMs * P99_PART;
      let durations = new Map<string, number[]>();
      await expectMovement(caller, 0, async () => {
        durations = await measure(caller);
      });
      const latencies = [...durations].map(([call, ms]) => latencyOf(call, ms));
      const all = latencyOf('all', [...durations.values()].flat());
      for (const latency of [...latencies, all]) measured(latency);
      if (all.p99Ms <= limitMs) return;
      throw new Unmet(
        `p99 of at most ${limitMs} ms`,
        `p50 ${all.p50Ms} ms, p95 ${all.p95Ms} ms, p99 ${all.p99Ms} ms`,
      );
    },
  },
];

/** Measures the durations of each kind of call, in milliseconds. Leaves the player's balance as it was. */
async function measure(caller: WalletCaller): Promise<Map<string, number[]>> {
  const durations = new Map<string, number[]>();
  const nowMs = caller.calls.nowMs;
  const timed = async <T>(call: string, act: () => Promise<T>): Promise<T> => {
    const began = nowMs();
    const result = await act();
    durations.set(call, [...(durations.get(call) ?? []), nowMs() - began]);
    return result;
  };
  const send = async (order: WalletOrder) => {
    const reply = await timed(order.kind, () => caller.send(order));
    await caller.decisionAfter(reply, order);
  };
  let left = Math.ceil(caller.wallet.latencyCalls / 5);
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const [kept, undone] = [caller.bet(), caller.bet()];
      await timed('balance', () => caller.readBalance());
      await send(kept);
      await send(caller.win({ roundId: kept['roundId'] }));
      await send(undone);
      await send(caller.rollback(undone));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return durations;
}

function latencyOf(call: string, durations: number[]): Latency {
  const sorted = durations.toSorted((a, b) => a - b);
  const percentile = (part: number) => rounded(sorted[Math.ceil(sorted.length * part) - 1] ?? 0);
  return {
    call,
    count: sorted.length,
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
    p99Ms: percentile(0.99),
    maxMs: percentile(1),
  };
}

/** Rounds to a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
