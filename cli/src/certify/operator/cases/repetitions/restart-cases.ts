import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Prerequisite, Unmet } from '../../../outcome.js';
import type { WalletCaller, WalletOrder } from '../../caller.js';
import {
  bookFirst,
  expectApproved,
  expectBalance,
  expectDeclined,
  expectMovement,
} from '../../expectations.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutRestartCommand } from '../wallet-case.js';

/** The longest time that the command, and then the wallet's start, may take, in milliseconds. */
const RESTART_MS = 60_000;
/** Pause between two attempts to reach the wallet, in milliseconds. */
const ATTEMPT_MS = 100;
/** WINs under way while the wallet is restarted. */
const AT_ONCE = 10;

/** Cases that restart the wallet. Without `--restart-command` they are no part of the certification. */
export const RESTART_CASES: WalletCase[] = [
  {
    id: 'restart-keeps-bookings',
    title: 'loses nothing that it has answered when it is restarted',
    rule: RULES.durable,
    skipped: withoutRestartCommand,
    run: async (caller) => {
      const [bet, undone, missing] = [caller.bet(), caller.bet(), caller.bet()];
      const win = caller.win({ roundId: bet['roundId'], amountMinor: 2 * caller.stakeMinor });
      const rollback = caller.rollback(undone);
      const adjustment = caller.adjustment(caller.stakeMinor);
      for (const order of [bet, undone, rollback, caller.rollback(missing), adjustment, win])
        await bookFirst(caller, order);
      const balance = await caller.balance();
      await restart(caller);
      expectBalance(await caller.balance(), balance, 'after the restart, as before');
      await expectMovement(caller, 0, async () => {
        for (const order of [bet, win, rollback, adjustment])
          expectApproved(await caller.decide(order), `APPROVED for the repeated ${order.kind}`);
        expectDeclined(
          await caller.decide(missing),
          'DECLINED for a BET whose ROLLBACK came before the restart',
        );
        expectApproved(await caller.decide(caller.rollback(undone)), 'APPROVED for another ROLLBACK');
      });
    },
  },
  {
    id: 'restart-during-calls',
    title: `books each of ${AT_ONCE} WINs once that are under way when it is restarted, and repeated afterwards`,
    rule: RULES.durable,
    skipped: withoutRestartCommand,
    run: async (caller) => {
      const wins = Array.from({ length: AT_ONCE }, () => caller.win());
      await expectMovement(caller, AT_ONCE * caller.stakeMinor, async () => {
        const calls = wins.map((win) => answerOrNone(caller, win));
        await restart(caller);
        await Promise.all(calls);
        for (const win of wins)
          expectApproved(await caller.decideEventually(win), 'APPROVED for each repeated WIN');
      });
    },
  },
];

async function answerOrNone(caller: WalletCaller, order: WalletOrder): Promise<void> {
  try {
    await caller.send(order);
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
  }
}

/**
 * Runs the command that restarts the wallet, and waits until the wallet answers.
 * @throws Prerequisite if the command fails, or the wallet does not answer
 */
async function restart(caller: WalletCaller): Promise<void> {
  const { restartCommand = '' } = caller.wallet;
  const child = spawn(restartCommand, { shell: true, stdio: 'ignore', timeout: RESTART_MS });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0)
    throw new Prerequisite(
      'a --restart-command that ends with status 0',
      `status ${status ?? 'none: it was ended'}`,
    );
  const until = caller.calls.nowMs() + RESTART_MS;
  for (;;) {
    try {
      await caller.readBalance();
      return;
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      if (caller.calls.nowMs() > until)
        throw new Prerequisite(
          `a wallet that answers within ${RESTART_MS / 1000} s of its restart`,
          error.received,
        );
    }
    await delay(ATTEMPT_MS);
  }
}
