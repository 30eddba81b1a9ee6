import { Prerequisite, Unmet } from '../outcome.js';
import { describeReply, type Reply } from '../../reply.js';
import type { Decision } from './answers.js';
import type { Account, WalletCaller, WalletOrder } from './caller.js';

/** Minimum balance at the start of a case, as a multiple of the stake. */
const FUNDS_STAKES = 20;

/**
 * Tops up the player if the balance is below what the cases need.
 * @throws Prerequisite if the wallet does not return or change the balance
 */
export async function fund(caller: WalletCaller, account: Partial<Account> = {}): Promise<void> {
  const missing = FUNDS_STAKES * caller.stakeMinor - (await caller.balance(account));
  if (missing > 0) await adjust(caller, missing, account);
}

/**
 * Changes the balance by an ADJUSTMENT.
 * @throws Prerequisite if the wallet does not approve it
 */
export async function adjust(
  caller: WalletCaller,
  byMinor: number,
  account: Partial<Account> = {},
): Promise<void> {
  if (byMinor !== 0) await bookFirst(caller, caller.adjustment(byMinor, account));
}

/**
 * Sets the balance that the case needs.
 * @throws Prerequisite if the wallet does not return or change the balance
 */
export async function setBalance(
  caller: WalletCaller,
  toMinor: number,
  account: Partial<Account> = {},
): Promise<void> {
  await adjust(caller, toMinor - (await caller.balance(account)), account);
}

/**
 * Books a transaction that the case builds on.
 * @throws Prerequisite if the wallet does not approve it
 */
export async function bookFirst(caller: WalletCaller, order: WalletOrder): Promise<WalletOrder> {
  try {
    expectApproved(await caller.decide(order));
    return order;
  } catch (error) {
    throw error instanceof Unmet
      ? new Prerequisite(`a prior ${order.kind}: ${error.expected}`, error.received)
      : error;
  }
}

export function expectApproved(decision: Decision, what = 'APPROVED'): Decision {
  if (decision.status === 'APPROVED') return decision;
  throw new Unmet(what, `DECLINED, balance ${decision.balance}`);
}

export function expectDeclined(decision: Decision, what = 'DECLINED'): Decision {
  if (decision.status === 'DECLINED') return decision;
  throw new Unmet(what, `APPROVED, balance ${decision.balance}`);
}

/** Expects that the wallet refuses an invalid body. */
export function expectInvalid(reply: Reply): void {
  if (reply.status !== 400) throw new Unmet('status 400', describeReply(reply));
}

/** Expects that the wallet approves a transaction, with the balance that it leaves in the answer. */
export async function expectBooked(
  caller: WalletCaller,
  order: WalletOrder,
  balanceMinor: number,
): Promise<void> {
  const { balance } = expectApproved(await caller.decide(order), `APPROVED for the ${order.kind}`);
  expectBalance(balance, balanceMinor, `in the answer to the ${order.kind}`);
}

/** Expects that the wallet answers a repeated transaction as it did the first time. The balance may differ. */
export async function expectRepeated(
  caller: WalletCaller,
  order: WalletOrder,
  first: Pick<Decision, 'status' | 'reason'>,
): Promise<void> {
  const { status, reason } = await caller.decide(order);
  if (status === first.status && reason === first.reason) return;
  const shown = (decision: Pick<Decision, 'status' | 'reason'>) =>
    decision.reason === undefined ? decision.status : `${decision.status} ${JSON.stringify(decision.reason)}`;
  throw new Unmet(`${shown(first)} for the repeated ${order.kind}`, shown({ status, reason }));
}

export function expectBalance(received: number, expected: number, where: string): void {
  if (received !== expected) throw new Unmet(`balance ${expected} ${where}`, `balance ${received}`);
}

/** Expects that `act` changes the balance of the account by `byMinor`, according to the balance route. */
export async function expectMovement(
  caller: WalletCaller,
  byMinor: number,
  act: (beforeMinor: number) => Promise<unknown>,
  account: Partial<Account> = {},
): Promise<void> {
  const before = await caller.balance(account);
  await act(before);
  const after = await caller.balance(account);
  if (after - before !== byMinor) {
    throw new Unmet(
      `the balance changed by ${byMinor}`,
      `changed by ${after - before}, from ${before} to ${after}`,
    );
  }
}
