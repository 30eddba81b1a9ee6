import type { MovementRequest } from '../operator-wallet/operator-wallet.js';
import type { DeclineReason, Verdict } from './rules/decision.js';
import type { Mode, ProviderFacts, TransactionRequest } from './rules/facts.js';

/** What identifies a transaction. */
export type TransactionKey = Pick<MovementRequest, 'providerId' | 'transactionId'>;

/** A provider's request, with the other values that are needed to load its facts and to claim it. */
export interface Submission {
  readonly provider: ProviderFacts;
  readonly request: TransactionRequest;
  /** SHA-256 of the session token. */
  readonly tokenHash: Buffer;
  /** The id that the transaction gets if this submission claims it. */
  readonly platformTransactionId: string;
}

/** Who causes an attempt. An administrator does so by resolving or settling a transaction, or by an adjustment. */
export type Driver = 'provider' | 'resolver' | 'administrator';

/** The right to execute one attempt. Once its lease has expired, another attempt may take the transaction over. */
export interface Claim {
  readonly attempt: number;
  readonly platformTransactionId: string;
  readonly operatorId: string;
  /** Null for an adjustment. */
  readonly sessionId: string | null;
  readonly mode: Mode;
  /** The request to the operator: fixed by the first claim, identical in every attempt. */
  readonly operatorRequest: MovementRequest;
  /** The monotonic time at which the claim was sent to the database. The lease began then or later. */
  readonly sentMs: number;
  /** Set if the platform has decided: the operator is then called only for the balance. */
  readonly verdict?: Verdict;
  /**
   * For the first attempt of a WIN: whether its round had an APPROVED BET without a ROLLBACK when it was claimed. A
   * ROLLBACK of that BET has to wait while the WIN is undecided, so the BET is still APPROVED when the WIN is decided.
   * Absent in later attempts.
   */
  readonly standsOnBet?: boolean;
}

/** A transaction that is about to be claimed for the first time. */
export interface NewTransaction {
  readonly providerId: string;
  readonly platformTransactionId: string;
  readonly operatorId: string;
  /** Never null for a transaction of a provider. The type allows null, because the column does. */
  readonly sessionId: string | null;
  readonly mode: Mode;
  readonly request: TransactionRequest;
  /**
   * Minor units. A ROLLBACK that the operator executes has the amount of its target or, if that is unknown, the
   * requested amount or 0.
   */
  readonly amountMinor: number;
  readonly verdict?: Verdict;
}

/** An adjustment that is about to be claimed: the platform's own transaction, without session, game or round. */
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

/** An answer that the operator gave by means other than its wallet, as a person entered it. Contract, section 9. */
export interface AnswerByHand {
  readonly status: 'APPROVED' | 'DECLINED';
  /** Minor units; null if the operator reported none. */
  readonly balance: number | null;
  /** The operator's reference for its answer, such as a ticket number. */
  readonly operatorReference: string;
  /** Why it was settled by hand. */
  readonly reason: string;
}

/** A settled attempt in the transaction's history. */
export interface AttemptRecord {
  readonly attempt: number;
  /** Absent if the provider caused the attempt. */
  readonly driver?: Exclude<Driver, 'provider'>;
  readonly requestId?: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly outcome: 'APPROVED' | 'DECLINED' | 'OPERATOR_TIMED_OUT' | 'OPERATOR_UNAVAILABLE';
  readonly balance?: number;
  readonly reason?: string;
  readonly operatorTransactionId?: string;
  /** Why there is no valid answer, or what part of a valid one was ignored. */
  readonly detail?: string;
  /** Set if no connection to the wallet was made, so that the operator has received nothing. */
  readonly notSent?: true;
  /** HTTP status of the operator's answer, if the answer was invalid. */
  readonly operatorStatus?: number;
  /** Set if a person entered the answer: no operator was called. */
  readonly settledByHand?: Pick<AnswerByHand, 'operatorReference' | 'reason'>;
}

/**
 * An attempt in the transaction's history. LEASE_OVER: another attempt took over after the lease had expired, so the
 * outcome is unknown.
 */
export type StoredAttempt =
  AttemptRecord | { readonly attempt: number; readonly outcome: 'LEASE_OVER'; readonly startedAt?: string };

export interface Settlement {
  readonly state: 'APPROVED' | 'DECLINED' | 'TIMED_OUT';
  /** The response as it is stored and replayed; null while undecided. */
  readonly responseBody: string | null;
  readonly declineReason: DeclineReason | null;
  /** Undefined fields are not stored. */
  readonly record: { readonly [Field in keyof AttemptRecord]: AttemptRecord[Field] | undefined };
}

/** A committed settlement. The fields are set if it is an APPROVED ROLLBACK that has reversed an APPROVED BET. */
export interface Settled {
  /** The amount of the BET, in minor units. */
  readonly reversedMinor?: number | null;
  /** When the BET was settled, by the clock of the instance that settled it. */
  readonly reversedAt?: Date | null;
}

/** The fields that a request may lack. Statements need a value for each of their parameters. */
export const ABSENT = {
  roundClosed: undefined,
  originalTransactionId: undefined,
  freeSpinsRef: undefined,
  winKind: undefined,
  promotionRef: undefined,
};

/** The first claim of a transaction. */
export function newClaim(transaction: NewTransaction, sentMs: number, standsOnBet = false): Claim {
  const { providerId, platformTransactionId, operatorId, sessionId, mode, verdict } = transaction;
  const { request, amountMinor } = transaction;
  const claim = {
    attempt: 1,
    platformTransactionId,
    operatorId,
    sessionId,
    mode,
    operatorRequest: operatorRequestOf(request, { providerId, amountMinor }),
    sentMs,
    standsOnBet,
  };
  return verdict ? { ...claim, verdict } : claim;
}

type OptionalField =
  | 'gameId'
  | 'roundId'
  | 'roundClosed'
  | 'originalTransactionId'
  | 'freeSpinsRef'
  | 'winKind'
  | 'promotionRef';

/** The fields of a request to the operator. In a stored transaction, null means that the request has no such field. */
export type MovementFields = Omit<MovementRequest, OptionalField | 'providerId' | 'amountMinor'> & {
  readonly [Field in OptionalField]?: MovementRequest[Field] | null;
};

/** The request to the operator. Its fields always have the same order, so that each attempt sends the same bytes. */
export function operatorRequestOf(
  fields: MovementFields,
  { providerId, amountMinor }: Pick<MovementRequest, 'providerId' | 'amountMinor'>,
): MovementRequest {
  const { gameId, roundId, roundClosed, originalTransactionId, freeSpinsRef, winKind, promotionRef } = fields;
  const request = {
    transactionId: fields.transactionId,
    providerId,
    kind: fields.kind,
    playerRef: fields.playerRef,
    ...(gameId != null && { gameId }),
    currency: fields.currency,
    amountMinor,
    ...(roundId != null && { roundId }),
    ...(roundClosed != null && { roundClosed }),
    ...(originalTransactionId != null && { originalTransactionId }),
    ...(freeSpinsRef != null && { freeSpinsRef }),
  };
  if (winKind == null && promotionRef == null) return request;
  return { ...request, ...(winKind != null && { winKind }), ...(promotionRef != null && { promotionRef }) };
}
