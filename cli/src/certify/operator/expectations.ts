import { Prerequisite, Unmet } from '../outcome.js';
import { describeReply, type Reply } from '../../reply.js';
import type { Decision } from './answers.js';
import type { WalletCaller, WalletOrder } from './caller.js';

/** Minimum balance at the start of a case, as a multiple of the stake. */
const FUNDS_STAKES = 20;

/**
 * Tops up the player if the balance is below what the cases need.
 * @throws Prerequisite if the wallet does not return or change the balance
 */
export async function fund(caller: WalletCaller, playerRef = caller.wallet.playerRef): Promise<void> {
  const missing = FUNDS_STAKES * caller.stakeMinor - (await caller.balance(playerRef));
  if (missing > 0) await adjust(caller, missing, playerRef);
}

/**
 * Changes the balance by an ADJUSTMENT.
 * @throws Prerequisite if the wallet does not approve it
 */
export async function adjust(
  caller: WalletCaller,
  byMinor: number,
  playerRef = caller.wallet.playerRef,
): Promise<void> {
  if (byMinor !== 0) await bookFirst(caller, caller.adjustment(byMinor, { playerRef }));
}

/**
 * Sets the balance that the case needs.
 * @throws Prerequisite if the wallet does not return or change the balance
 */
export async function setBalance(caller: WalletCaller, toMinor: number): Promise<void> {
  await adjust(caller, toMinor - (await caller.balance()));
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

/** Expects that the wallet does not book an invalid body: it answers 4xx or DECLINED. */
export function expectNotApproved(reply: Reply): void {
  const isClientError = reply.status >= 400 && reply.status <= 499;
  const isDeclined = reply.status === 200 && reply.json?.['status'] === 'DECLINED';
  if (!isClientError && !isDeclined)
    throw new Unmet('a status from 400 to 499, or DECLINED', describeReply(reply));
}

export function expectBalance(received: number, expected: number, where: string): void {
  if (received !== expected) throw new Unmet(`balance ${expected} ${where}`, `balance ${received}`);
}

/** Expects that `act` changes the player's balance by `byMinor`, according to the balance route. */
export async function expectMovement(
  caller: WalletCaller,
  byMinor: number,
  act: (beforeMinor: number) => Promise<unknown>,
  playerRef = caller.wallet.playerRef,
): Promise<void> {
  const before = await caller.balance(playerRef);
  await act(before);
  const after = await caller.balance(playerRef);
  if (after - before !== byMinor) {
    throw new Unmet(
      `the balance changed by ${byMinor}`,
      `changed by ${after - before}, from ${before} to ${after}`,
    );
  }
}
