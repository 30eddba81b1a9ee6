import { setTimeout as delay } from 'node:timers/promises';
import type { WalletCaller, WalletOrder } from '../../caller.js';
import { Unmet } from '../../../outcome.js';
import { bookFirst, expectApproved, expectDeclined, expectMovement } from '../../expectations.js';
import { describeReply } from '../../../../reply.js';
import { SIGNATURE_RULES } from '../../../signature-rules.js';
import { rememberedNonce, type UsedNonce } from '../../../signed-calls.js';
import { RULES } from '../../rules.js';
import type { WalletCase } from '../wallet-case.js';

/** The transactions at the beginning of a run that its end repeats. */
interface Firsts {
  bet: WalletOrder;
  win: WalletOrder;
  reversed: WalletOrder;
  rollback: WalletOrder;
  /** A BET whose ROLLBACK came first. */
  tombstoned: WalletOrder;
  declined: WalletOrder;
  adjustment: WalletOrder;
  /** The nonce of the first call, which asked for the balance. */
  nonce: UsedNonce;
  /** When the last of them was answered, in Unix milliseconds. */
  answeredAtMs: number;
}

const FIRSTS = new WeakMap<WalletCaller, Promise<Firsts>>();

/** Run before all others, so that as much as possible happens until the transactions are repeated. */
export const FIRST_CASES: WalletCase[] = [
  {
    id: 'first-of-each-kind',
    title: 'decides the transactions that are repeated at the end',
    rule: RULES.definite,
    run: async (caller) => {
      await firstsOf(caller);
    },
  },
];

/** Run after the others. */
export const LATER_CASES: WalletCase[] = [
  {
    // The first one, because a nonce need not be remembered for as long as the others may wait.
    id: 'nonce-remembered',
    title: 'refuses a new call at the end of the run that has the nonce of the first one',
    rule: SIGNATURE_RULES.nonceOnce,
    run: async (caller) => {
      const { nonce: first } = await firstsOf(caller);
      const nonce = await rememberedNonce(caller.calls, caller.wallet.patienceMs, first, () =>
        useNonce(caller),
      );
      const reply = await caller.askBalance({}, { nonce });
      if (reply.status < 400 || reply.status > 499)
        throw new Unmet('a status from 400 to 499', describeReply(reply));
    },
  },
  recognised('bet', 'the first BET'),
  recognised('win', 'the first WIN'),
  recognised('rollback', 'the first ROLLBACK'),
  recognised('adjustment', 'the first ADJUSTMENT'),
  {
    id: 'reversal-remembered',
    title: 'reverses nothing for another ROLLBACK of the first BET that was rolled back',
    rule: RULES.oneReversal,
    run: async (caller) => {
      const { reversed } = await firstsAfterPatience(caller);
      await expectMovement(caller, 0, async () => {
        expectApproved(await caller.decide(caller.rollback(reversed)));
        await caller.decide(reversed);
      });
    },
  },
  {
    id: 'tombstone-remembered',
    title: 'declines the BET whose ROLLBACK came first, at the end of the run',
    rule: RULES.tombstone,
    run: async (caller) => {
      const { tombstoned } = await firstsAfterPatience(caller);
      await expectMovement(caller, 0, async () => expectDeclined(await caller.decide(tombstoned)));
    },
  },
  {
    id: 'declined-remembered',
    title: 'declines the first BET that it declined, at the end of the run',
    rule: RULES.once,
    run: async (caller) => {
      const { declined } = await firstsAfterPatience(caller);
      await bookFirst(caller, caller.adjustment(declined.amountMinor));
      await expectMovement(caller, 0, async () => expectDeclined(await caller.decide(declined)));
      await bookFirst(caller, caller.adjustment(-declined.amountMinor));
    },
  },
];

function recognised(what: 'bet' | 'win' | 'rollback' | 'adjustment', name: string): WalletCase {
  return {
    id: `${what}-recognised`,
    title: `recognises ${name} at the end of the run, and moves nothing again`,
    rule: RULES.once,
    run: async (caller) => {
      const order = (await firstsAfterPatience(caller))[what];
      await expectMovement(caller, 0, async () => expectApproved(await caller.decide(order)));
    },
  };
}

/** Sends the transactions if no earlier case has. */
function firstsOf(caller: WalletCaller): Promise<Firsts> {
  const known = FIRSTS.get(caller);
  if (known) return known;
  const sent = sendFirsts(caller);
  FIRSTS.set(caller, sent);
  return sent;
}

/** Asks for the balance with a new nonce. */
async function useNonce(caller: WalletCaller): Promise<UsedNonce> {
  const used = caller.calls.freshNonce();
  await caller.askBalance({}, { nonce: used.nonce });
  return used;
}

async function sendFirsts(caller: WalletCaller): Promise<Firsts> {
  const nonce = await useNonce(caller);
  const bet = await bookFirst(caller, caller.bet());
  const win = await bookFirst(caller, caller.win({ roundId: bet['roundId'] }));
  const reversed = await bookFirst(caller, caller.bet());
  const rollback = await bookFirst(caller, caller.rollback(reversed));
  const tombstoned = caller.bet();
  await bookFirst(caller, caller.rollback(tombstoned));
  const declined = caller.bet({ amountMinor: (await caller.balance()) + 1 });
  expectDeclined(await caller.decide(declined));
  const adjustment = await bookFirst(caller, caller.adjustment(caller.stakeMinor));
  const answeredAtMs = caller.calls.nowMs();
  return { bet, win, reversed, rollback, tombstoned, declined, adjustment, nonce, answeredAtMs };
}

async function firstsAfterPatience(caller: WalletCaller): Promise<Firsts> {
  const firsts = await firstsOf(caller);
  const waitMs = firsts.answeredAtMs + caller.wallet.patienceMs - caller.calls.nowMs();
  if (waitMs > 0) await delay(waitMs);
  return firsts;
}
