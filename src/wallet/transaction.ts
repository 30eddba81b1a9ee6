import type { Order } from '../operator-wallet/operator-wallet.js';
import type { DeclineReason, Verdict } from './rules/decision.js';
import type { Asked, Mode } from './rules/facts.js';

/** A provider's request, with what is recorded and forwarded but decides nothing. */
export interface SubmittedTransaction extends Asked {
  readonly sessionToken: string;
  readonly roundClosed?: boolean;
}

/** Who drives an attempt; a person does it through the resolve route or an adjustment. */
export type Driver = 'provider' | 'resolver' | 'administrator';

/** An attempt that is ours until its lease is over or somebody settles it. */
export interface Claim {
  readonly attempt: number;
  readonly platformTransactionId: string;
  readonly operatorId: string;
  /** An adjustment has none. */
  readonly sessionId: string | null;
  readonly mode: Mode;
  /** The operator's request, fixed at the first claim and repeated identically. */
  readonly order: Order;
  /** Set where no movement is asked of the operator, only the balance. */
  readonly verdict?: Verdict;
}

/** A transaction that nobody has claimed yet. */
export interface NewTransaction {
  readonly providerId: string;
  readonly platformTransactionId: string;
  readonly operatorId: string;
  /** An adjustment has none. */
  readonly sessionId: string | null;
  readonly mode: Mode;
  readonly asked: Omit<SubmittedTransaction, 'sessionToken'>;
  /** Minor units; a ROLLBACK's is its target's. */
  readonly amountMinor: number;
  readonly verdict?: Verdict;
}

/** An adjustment that nobody has claimed yet: the platform's own, in no session, game or round. */
export interface NewAdjustment {
  readonly adjustmentId: string;
  readonly platformTransactionId: string;
  readonly operatorId: string;
  readonly playerRef: string;
  readonly currency: string;
  /** Minor units, signed, not 0. */
  readonly amountMinor: number;
  readonly reason: string;
}

/** What an attempt came to, as the transaction's history keeps it. */
export interface AttemptRecord {
  readonly attempt: number;
  /** Absent for the provider. */
  readonly driver?: Exclude<Driver, 'provider'>;
  readonly requestId?: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly outcome: 'APPROVED' | 'DECLINED' | 'OPERATOR_TIMED_OUT' | 'OPERATOR_UNAVAILABLE';
  readonly balance?: number;
  readonly reason?: string;
  readonly operatorTransactionId?: string;
  readonly detail?: string;
}

/** An attempt as the history keeps it; of one whose lease ran out nobody knows more. */
export type StoredAttempt =
  AttemptRecord | { readonly attempt: number; readonly outcome: 'LEASE_OVER'; readonly startedAt?: string };

export interface Settlement {
  readonly state: 'APPROVED' | 'DECLINED' | 'TIMED_OUT';
  /** The answer as it is stored and repeated; null while there is none. */
  readonly responseBody: string | null;
  readonly declineReason: DeclineReason | null;
  /** What is undefined of it is not stored. */
  readonly record: { readonly [Field in keyof AttemptRecord]: AttemptRecord[Field] | undefined };
}

/** The operator's request of a transaction that was just claimed. */
export function orderOf(transaction: NewTransaction): Claim['order'] {
  const { asked } = transaction;
  return {
    transactionId: asked.transactionId,
    providerId: transaction.providerId,
    kind: asked.kind,
    playerRef: asked.playerRef,
    gameId: asked.gameId,
    currency: asked.currency,
    amountMinor: transaction.amountMinor,
    roundId: asked.roundId,
    ...(asked.roundClosed !== undefined && { roundClosed: asked.roundClosed }),
    ...(asked.originalTransactionId !== undefined && { originalTransactionId: asked.originalTransactionId }),
    ...(asked.freeSpinsRef !== undefined && { freeSpinsRef: asked.freeSpinsRef }),
  };
}
