import { expectInTime, LatencyMeter } from '../../../latency.js';
import type { WalletCaller, WalletOrder } from '../../caller.js';
import { expectMovement } from '../../expectations.js';
import { RULES } from '../../rules.js';
import type { WalletCase } from '../wallet-case.js';

/** Number of concurrent calls, as a small platform makes them. */
const CONCURRENCY = 4;
const CALLS_OF_A_ROUND = 5;

export const LATENCY_CASES: WalletCase[] = [
  {
    id: 'latency',
    title: "answers 99 of 100 calls within half of the platform's time-out, and the ledger adds up",
    rule: RULES.inTime,
    run: async (caller, measured) => {
      const meter = new LatencyMeter(caller.calls.nowMs);
      await expectMovement(caller, 0, () => playRounds(caller, meter));
      expectInTime(meter, caller.wallet.timeoutMs, measured);
    },
  },
];

/** Leaves the player's balance as it was. */
async function playRounds(caller: WalletCaller, meter: LatencyMeter): Promise<void> {
  const send = async (order: WalletOrder) => {
    const reply = await meter.measure(order.kind, () => caller.send(order));
    await caller.decisionAfter(reply, order);
  };
  let rounds = Math.ceil(caller.wallet.latencyCalls / CALLS_OF_A_ROUND);
  const worker = async () => {
    while (rounds > 0) {
      rounds -= 1;
      const [kept, undone] = [caller.bet(), caller.bet()];
      await meter.measure('balance', () => caller.readBalance());
      await send(kept);
      await send(caller.win({ roundId: kept['roundId'] }));
      await send(undone);
      await send(caller.rollback(undone));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
