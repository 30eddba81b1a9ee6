/** What the wallet routes take and answer. Amounts are whole numbers of minor currency units, 0 … 2^53−1. */

export interface SessionRequest {
  /** The opaque token that the game was launched with. */
  sessionToken: string;
}

export interface VerifySessionResponse {
  sessionId: string;
  playerRef: string;
  gameId: string;
  /** ISO 4217, three upper-case letters. */
  currency: string;
  operatorId: string;
  /** A DEMO session plays with fun money and never reaches an operator. */
  mode: 'REAL' | 'DEMO';
  /** ISO 8601, UTC. */
  expiresAt: string;
  language?: string;
  country?: string;
}

interface TransactionFields extends SessionRequest {
  /**
   * Yours, unique for ever; 1 to 128 printable ASCII characters without spaces, not beginning with `croupier-`. The same
   * request under the same id moves money once, however often it is sent.
   */
  transactionId: string;
  /** As the session has it, like gameId and currency. */
  playerRef: string;
  gameId: string;
  currency: string;
  roundId: string;
  /** Recorded and forwarded; never a reason to refuse. */
  roundClosed?: boolean | undefined;
  /** The externalRef of the batch of free spins this belongs to. */
  freeSpinsRef?: string | undefined;
}

export interface BetRequest extends TransactionFields {
  /** Minor units. */
  amountMinor: number;
}

export interface WinRequest extends TransactionFields {
  /** Minor units; 0 closes a round that was lost. */
  amountMinor: number;
}

export interface RollbackRequest extends TransactionFields {
  /** The BET to take back; what moves is always its amount. */
  originalTransactionId: string;
  /** Minor units; if given, it must equal the original's. */
  amountMinor?: number | undefined;
}

export type TransactionRequest =
  ({ kind: 'BET' } & BetRequest) | ({ kind: 'WIN' } & WinRequest) | ({ kind: 'ROLLBACK' } & RollbackRequest);

export type DeclineReason =
  | 'INSUFFICIENT_FUNDS'
  | 'PLAYER_BLOCKED'
  | 'LIMIT_REACHED'
  | 'TRANSACTION_ROLLED_BACK'
  | 'ROUND_ALREADY_SETTLED'
  | 'NOT_ROLLBACKABLE'
  | 'OTHER';

/** A decision, and final: DECLINED is an answer, not an error. A replay carries the balance of then. */
export interface TransactionResponse {
  transactionId: string;
  platformTransactionId: string;
  status: 'APPROVED' | 'DECLINED';
  /** Minor units; may be negative. */
  balance: number;
  currency: string;
  /** Only with DECLINED. */
  declineReason?: DeclineReason;
}

export interface BalanceResponse {
  /** Minor units; may be negative. */
  balance: number;
}
