import type { ErrorCode } from '../../errors/catalogue.js';
import type { PauseFacts } from './facts.js';

/** Decline reasons that a provider may receive. Contract, section 3, "Transaction answer". */
export const DECLINE_REASONS = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'LIMIT_REACHED',
  'STAKE_ABOVE_LIMIT',
  'TRANSACTION_ROLLED_BACK',
  'ROUND_ALREADY_SETTLED',
  'NOT_ROLLBACKABLE',
  'OTHER',
] as const;

export type DeclineReason = (typeof DECLINE_REASONS)[number];

/** The platform's own verdict. It moves no money, and its answer has the player's current balance. */
export type Verdict =
  { readonly status: 'APPROVED' } | { readonly status: 'DECLINED'; readonly declineReason: DeclineReason };

/** What the service does with a request. */
export type Decision =
  | { readonly do: 'refuse'; readonly code: ErrorCode; readonly message?: string }
  /** A pause of the game, its provider or the operator refuses the BET. */
  | { readonly do: 'refuse-paused'; readonly pause: PauseFacts }
  /** Answer with the stored response, byte for byte. */
  | { readonly do: 'replay'; readonly body: string }
  /** Answer DECLINED `TRANSACTION_ROLLED_BACK` without a claim, because the id is already rolled back. */
  | { readonly do: 'decline-rolled-back' }
  /** Claim the id with the platform's own verdict. */
  | { readonly do: 'conclude'; readonly verdict: Verdict }
  /** Claim the id and let the operator book it. */
  | { readonly do: 'book' }
  /** Claim the id, mark the target (or store a tombstone), and let the operator reverse the target. */
  | { readonly do: 'reverse'; readonly target: ReversedTarget; readonly amountMinor: number }
  /** Take over an attempt that was left undecided. */
  | { readonly do: 'retry'; readonly attempt: number };

/** The target's state when the decision was made; the claim succeeds only if it is unchanged. */
export type ReversedTarget =
  | { readonly found: 'nothing' }
  | { readonly found: 'tombstone' }
  | {
      readonly found: 'bet';
      readonly attempt: number;
      /** Whether the BET was APPROVED; otherwise it was undecided. */
      readonly approved: boolean;
    };
