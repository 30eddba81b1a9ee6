import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Prerequisite, Unmet } from '../../../outcome.js';
import type { Decision } from '../../answers.js';
import type { WalletCaller, WalletOrder } from '../../caller.js';
import { bookFirst, expectApproved, expectBalance, expectDeclined } from '../../expectations.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutRestartCommand } from '../wallet-case.js';

/** The longest time that the command, and then the wallet's start, may take, in milliseconds. */
const RESTART_MS = 60_000;
/** Pause between two attempts to reach the wallet, in milliseconds. */
const ATTEMPT_MS = 100;
/** WINs under way at any time while the wallet is restarted. */
const AT_ONCE = 10;
/** Amount of each of these WINs, in minor units: there may be thousands. */
const WIN_MINOR = 1;
/**
 * Pause before the next WIN, in milliseconds for each WIN sent so far. A command that takes RESTART_MS meets fewer than
 * 5,000 WINs, however fast the wallet answers.
 */
const PAUSE_MS_PER_WIN = 0.05;

/** Cases that restart the wallet. Without `--restart-command` they are skipped, and the certificate says so. */
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
      await runRestartCommand(caller);
      const restarted = await untilAnswering(caller);
      expectBalance(await restarted.balance(), balance, 'after the restart, as before');
      for (const order of [bet, win, rollback, adjustment])
        expectApproved(await restarted.decide(order), `APPROVED for the repeated ${order.kind}`);
      expectDeclined(
        await restarted.decide(missing),
        'DECLINED for a BET whose ROLLBACK came before the restart',
      );
      expectApproved(await restarted.decide(caller.rollback(undone)), 'APPROVED for another ROLLBACK');
      expectBalance(await restarted.balance(), balance, 'after the repetitions, as before');
    },
  },
  {
    id: 'restart-during-calls',
    title: `books each WIN once of those that are sent while it is restarted, ${AT_ONCE} at a time`,
    rule: RULES.durable,
    skipped: withoutRestartCommand,
    run: async (caller, _measured, noted) => {
      const before = await caller.balance();
      const sent = await winsDuring(caller, runRestartCommand(caller));
      const restarted = await untilAnswering(caller);
      const [answered, unanswered] = [sent.filter(isAnswered), sent.filter((each) => !isAnswered(each))];
      for (const { decision } of answered) expectApproved(decision, 'APPROVED for each WIN');
      await expectApprovedAgain(restarted, unanswered);
      const booked = `after ${answered.length} answered WINs of ${WIN_MINOR}, and ${unanswered.length} that were repeated`;
      const after = before + sent.length * WIN_MINOR;
      expectBalance(await restarted.balance(), after, booked);
      await expectApprovedAgain(restarted, answered);
      expectBalance(await restarted.balance(), after, 'after the answered WINs were repeated');
      noted(
        unanswered.length === 0
          ? `No interruption was seen: all ${sent.length} WINs during the restart were answered.`
          : `${unanswered.length} of ${sent.length} WINs during the restart were not answered.`,
      );
    },
  },
];

/** A WIN that was sent once, with the answer to it. */
interface SentWin {
  win: WalletOrder;
  /** Undefined if there was no valid answer. */
  decision: Decision | undefined;
}

function isAnswered(sent: SentWin): sent is SentWin & { decision: Decision } {
  return sent.decision !== undefined;
}

/** Sends WINs, `AT_ONCE` at a time, from now until the command has ended. */
async function winsDuring(caller: WalletCaller, command: Promise<void>): Promise<SentWin[]> {
  const sent: SentWin[] = [];
  let hasEnded = false;
  const worker = async () => {
    while (!hasEnded) {
      const win = caller.win({ amountMinor: WIN_MINOR });
      const decision = await decisionOrNone(caller, win);
      sent.push({ win, decision });
      await delay(decision === undefined ? ATTEMPT_MS : sent.length * PAUSE_MS_PER_WIN);
    }
  };
  const workers = Promise.all(Array.from({ length: AT_ONCE }, worker));
  try {
    await command;
  } finally {
    hasEnded = true;
    await workers;
  }
  return sent;
}

async function decisionOrNone(caller: WalletCaller, order: WalletOrder): Promise<Decision | undefined> {
  try {
    return await caller.decide(order);
  } catch (error) {
    if (error instanceof Unmet) return undefined;
    throw error;
  }
}

/** Repeats the WINs, `AT_ONCE` at a time. */
async function expectApprovedAgain(restarted: RestartedWallet, sent: readonly SentWin[]): Promise<void> {
  for (let index = 0; index < sent.length; index += AT_ONCE) {
    const wins = sent.slice(index, index + AT_ONCE).map(({ win }) => win);
    for (const decision of await Promise.all(wins.map((win) => restarted.decide(win))))
      expectApproved(decision, 'APPROVED for each repeated WIN');
  }
}

/**
 * Calls a wallet that has just restarted. Some of its instances may still be starting, so each call is repeated, as the
 * platform does, until it has a valid answer or the time for the start is over.
 */
class RestartedWallet {
  private readonly untilMs: number;

  constructor(private readonly caller: WalletCaller) {
    this.untilMs = caller.calls.nowMs() + RESTART_MS;
  }

  decide(order: WalletOrder): Promise<Decision> {
    return this.repeated(() => this.caller.decide(order));
  }

  balance(): Promise<number> {
    return this.repeated(() => this.caller.balance());
  }

  private async repeated<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof Unmet) || this.caller.calls.nowMs() > this.untilMs) throw error;
      }
      await delay(ATTEMPT_MS);
    }
  }
}

/** @throws Prerequisite if the command fails */
async function runRestartCommand({ wallet: { restartCommand = '' } }: WalletCaller): Promise<void> {
  const child = spawn(restartCommand, { shell: true, stdio: 'ignore', timeout: RESTART_MS });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0)
    throw new Prerequisite(
      'a --restart-command that ends with status 0',
      `status ${status ?? 'none: it was ended'}`,
    );
}

/**
 * Waits until the wallet answers.
 * @throws Prerequisite if it does not
 */
async function untilAnswering(caller: WalletCaller): Promise<RestartedWallet> {
  const restarted = new RestartedWallet(caller);
  try {
    await restarted.balance();
    return restarted;
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    throw new Prerequisite(
      `a wallet that answers within ${RESTART_MS / 1000} s of its restart`,
      error.received,
    );
  }
}
