/**
 * A transaction of the model. PLATFORM_ROLLBACK is the ROLLBACK with which the resolver ends the BET. BET_2 is another BET
 * of the round: it is in one of four states, and stays there.
 */
type Transaction =
  'BET' | 'BET_2' | 'WIN' | 'ROLLBACK_1' | 'ROLLBACK_2' | 'ROLLBACK_OF_WIN' | 'PLATFORM_ROLLBACK';

/** A part of the protocol that is explored completely. */
export interface Scope {
  readonly name: string;
  readonly transactions: readonly Transaction[];
  readonly instances: 2 | 3;
  /** Whether the BET exceeds the highest stake of its session, so that the platform itself declines it. */
  readonly overLimit?: true;
  /** Whether it is checked that each transaction ends decided or parked after the faults. Otherwise, the invariants are. */
  readonly liveness?: true;
}

/** Ordered by the time that they take, longest first, so that two of them always run side by side. */
export const SCOPES: readonly Scope[] = [
  {
    name: 'liveness of a WIN',
    transactions: ['BET', 'WIN', 'PLATFORM_ROLLBACK'],
    instances: 2,
    liveness: true,
  },
  {
    name: 'three instances',
    transactions: ['BET', 'ROLLBACK_1', 'PLATFORM_ROLLBACK'],
    instances: 3,
  },
  { name: 'WIN and ROLLBACK', transactions: ['BET', 'WIN', 'ROLLBACK_1', 'PLATFORM_ROLLBACK'], instances: 2 },
  {
    name: 'liveness of a ROLLBACK',
    transactions: ['BET', 'ROLLBACK_1', 'PLATFORM_ROLLBACK'],
    instances: 2,
    liveness: true,
  },
  { name: 'two BETs', transactions: ['BET', 'BET_2', 'WIN', 'ROLLBACK_1'], instances: 2 },
  {
    name: 'BET above the limit',
    transactions: ['BET', 'WIN', 'ROLLBACK_1', 'ROLLBACK_2', 'PLATFORM_ROLLBACK'],
    instances: 2,
    overLimit: true,
  },
  { name: 'ROLLBACK of a WIN', transactions: ['BET', 'WIN', 'ROLLBACK_OF_WIN'], instances: 2 },
  {
    name: 'two ROLLBACKs',
    transactions: ['BET', 'ROLLBACK_1', 'ROLLBACK_2', 'PLATFORM_ROLLBACK'],
    instances: 2,
  },
];

/** What a trace shows that violates liveness. */
export const NEVER_DECIDED = 'Some transaction is never decided or parked, although the faults have ended.';

/** A planted bug that the exploration must find, with the transactions that it needs. */
export interface Plant {
  readonly name: string;
  readonly breaks: string;
  /** The sentence of the invariant that it violates. */
  readonly violates: string;
  readonly transactions: readonly Transaction[];
}

const BET_AND_ROLLBACK = ['BET', 'ROLLBACK_1', 'PLATFORM_ROLLBACK'] as const;
const WITH_WIN = ['BET', 'WIN', 'ROLLBACK_1'] as const;

export const PLANTS: readonly Plant[] = [
  {
    name: 'claim-after-call',
    breaks: 'the claim is committed before the operator is called',
    violates: 'The wallet is called without a committed claim.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'no-tombstone',
    breaks: 'a ROLLBACK that arrives before its BET leaves a tombstone',
    violates: 'The wallet is called while a ROLLBACK of the transaction is under way.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'retry-during-rollback',
    breaks: 'a BET is not sent again while its ROLLBACK is under way',
    violates: 'The wallet is called while a ROLLBACK of the transaction is under way.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'settle-without-condition',
    breaks: 'a settlement takes effect only while its attempt is PENDING',
    violates: 'An attempt that was taken over has changed its transaction.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'no-fencing',
    breaks: 'a settlement names its attempt',
    violates: 'An attempt that was taken over has changed its transaction.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'no-round-lock',
    breaks: 'WIN and ROLLBACK of one round exclude each other',
    violates: 'The wallet has paid a WIN and has reversed the BET on which it depends.',
    transactions: WITH_WIN,
  },
  {
    name: 'unbound-answer',
    breaks: 'an answer counts only for the call that it names',
    violates: 'The platform stores APPROVED, and the wallet has not booked it.',
    transactions: WITH_WIN,
  },
  {
    name: 'resolver-without-lease',
    breaks: 'the resolver leaves a transaction alone while the lease of an attempt lasts',
    violates: 'The wallet is called while a ROLLBACK of the transaction is under way.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'reversal-after-approval',
    breaks: 'the platform itself does not reverse a BET that is APPROVED by then',
    violates: 'The platform itself reverses a BET that is APPROVED.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'target-stands',
    breaks: 'an APPROVED ROLLBACK rolls its BET back',
    violates: 'A ROLLBACK is APPROVED, and the transaction that it reverses stands.',
    transactions: BET_AND_ROLLBACK,
  },
  {
    name: 'resolver-without-rollbacks',
    breaks: 'the resolver decides every transaction that its provider does not retry',
    violates: NEVER_DECIDED,
    transactions: BET_AND_ROLLBACK,
  },
];

/** The macros of protocol.pml for a scope. */
export function macrosOf(scope: Omit<Scope, 'name'>): string[] {
  const macros = scope.transactions.map((transaction) => `-DWITH_${transaction}`);
  macros.push(`-DINSTANCES=${scope.instances}`);
  if (scope.overLimit) macros.push('-DOVER_LIMIT');
  if (scope.liveness) macros.push('-DLIVENESS');
  return macros;
}

/** The macros of protocol.pml for a planted bug. */
export function macrosOfPlant({ name, transactions, violates }: Plant): string[] {
  const scope = {
    transactions,
    instances: 2 as const,
    ...(violates === NEVER_DECIDED && { liveness: true as const }),
  };
  return [...macrosOf(scope), `-DPLANT_${name.toUpperCase().replaceAll('-', '_')}`];
}
