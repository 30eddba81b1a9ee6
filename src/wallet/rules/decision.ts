import type { ErrorCode } from '../../errors/catalogue.js';

/** The words with which a provider is told why. Contract, section 3, "TransactionResponse". */
export const DECLINE_REASONS = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'LIMIT_REACHED',
  'TRANSACTION_ROLLED_BACK',
  'ROUND_ALREADY_SETTLED',
  'NOT_ROLLBACKABLE',
  'OTHER',
] as const;

export type DeclineReason = (typeof DECLINE_REASONS)[number];

/** A verdict of our own: it moves nothing, and carries the balance that the operator names then. */
export type Verdict =
  { readonly status: 'APPROVED' } | { readonly status: 'DECLINED'; readonly declineReason: DeclineReason };

/** What is done with a request; the shell obeys. */
export type Decision =
  | { readonly do: 'refuse'; readonly code: ErrorCode }
  /** Answer what is stored, byte for byte. */
  | { readonly do: 'replay'; readonly body: string }
  /** Answer DECLINED `TRANSACTION_ROLLED_BACK`; nothing is stored, for the id already stands for that. */
  | { readonly do: 'decline-rolled-back' }
  /** Claim the id with a verdict of our own. */
  | { readonly do: 'conclude'; readonly verdict: Verdict }
  /** Claim the id and have the operator book it. */
  | { readonly do: 'book' }
  /** Claim the id, and its target with it, and have the operator reverse that. */
  | { readonly do: 'reverse'; readonly target: ReversedTarget; readonly amountMinor: number }
  /** Take over what an earlier attempt left undecided. */
  | { readonly do: 'retry'; readonly attempt: number };

/** The target as the decision saw it; the claim holds only while it still stands so. */
export type ReversedTarget =
  | { readonly found: 'nothing' }
  | { readonly found: 'tombstone' }
  | { readonly found: 'bet'; readonly attempt: number };
