import type { ErrorCode } from '../errors/catalogue.js';
import type { GuardedAction, GuardedActionKind } from './guarded-action.js';

export const APPROVAL_STATES = ['WAITING', 'APPROVED', 'REJECTED', 'EXPIRED'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** A request for a second person's decision about an action, and the decision once it is made. */
export interface Approval {
  readonly approvalId: string;
  readonly state: ApprovalState;
  readonly kind: GuardedActionKind;
  readonly reference: string;
  readonly terms: GuardedAction['terms'];
  readonly fingerprint: Buffer;
  readonly operatorId: string;
  readonly currency: string;
  /** In minor units: the stake of a grant or batch, or the signed amount of an adjustment or transaction. */
  readonly amountMinor: number;
  /** The exceeded limit; null if actions of this kind always need approval. */
  readonly limitName: string | null;
  readonly limitMinor: number | null;
  readonly usedMinor: number | null;
  readonly askedBy: string;
  readonly askedByName: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly decidedBy: string | null;
  readonly decidedByName: string | null;
  readonly decidedAt: Date | null;
  readonly reason: string | null;
  /** Why the action could not be recorded when it was approved; else null. */
  readonly failureCode: ErrorCode | null;
  readonly failureError: string | null;
}

/**
 * An approval. Once it is APPROVED, `result` is what the action's route would have answered if no approval had been
 * needed, or `{error}` if the action was no longer possible or failed.
 */
export type ApprovalWithResult = Approval & { readonly result?: object };
