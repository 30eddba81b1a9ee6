/** Requests and answers of the wallet routes. Amounts are whole numbers of minor currency units, 0 … 2^53−1. */

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
  /** A DEMO session uses play money and never reaches an operator. */
  mode: 'REAL' | 'DEMO';
  /** ISO 8601, UTC. */
  expiresAt: string;
  language?: string;
  country?: string;
  /** The highest stake of a BET, in minor units: a higher one is DECLINED `STAKE_ABOVE_LIMIT`. */
  maxBetMinor?: number;
  /** The jurisdiction whose rules apply to the session. */
  jurisdiction?: string;
  /** How often the game reminds the player of the time and money spent, in seconds. */
  realityCheckSeconds?: number;
}

interface TransactionFields extends SessionRequest {
  /**
   * Chosen by you and never used for another transaction; 1 to 128 printable ASCII characters without spaces, neither
   * `.` nor `..`, not beginning with `croupier-`. A request moves money at most once, however often it is sent.
   */
  transactionId: string;
  /** `playerRef`, `gameId` and `currency` must be those of the session. */
  playerRef: string;
  gameId: string;
  currency: string;
  roundId: string;
  /** Stored and forwarded to the operator; never a reason to refuse a transaction. */
  roundClosed?: boolean | undefined;
  /** The id of another transaction, for example of the round's BET: stored and forwarded to the operator. */
  originalTransactionId?: string | undefined;
  /** The grant's `externalRef`, as you answered it; marks the winnings of free spins. */
  freeSpinsRef?: string | undefined;
}

export interface BetRequest extends TransactionFields {
  /** Minor units. */
  amountMinor: number;
}

/** Why a WIN is paid. */
export type WinKind = 'GAME' | 'FREE_SPINS' | 'JACKPOT' | 'PROMOTION' | 'TOURNAMENT';

export interface WinRequest extends TransactionFields {
  /** Minor units; 0 closes a losing round. */
  amountMinor: number;
  /**
   * By default `FREE_SPINS` with a `freeSpinsRef`, else `GAME`. `FREE_SPINS` needs a `freeSpinsRef`, and `GAME` has none.
   * A `JACKPOT`, `PROMOTION` or `TOURNAMENT` needs no BET.
   */
  winKind?: WinKind | undefined;
  /** Your identifier of the promotion in which it was won; 1 to 128 printable ASCII characters without spaces. */
  promotionRef?: string | undefined;
}

export interface RollbackRequest extends TransactionFields {
  /**
   * The id of the BET to take back. An approved ROLLBACK returns the BET's whole amount if the BET was booked, else
   * nothing.
   */
  originalTransactionId: string;
  /** Minor units; if present, it must equal the BET's amount. */
  amountMinor?: number | undefined;
}

export type TransactionRequest =
  ({ kind: 'BET' } & BetRequest) | ({ kind: 'WIN' } & WinRequest) | ({ kind: 'ROLLBACK' } & RollbackRequest);

export type DeclineReason =
  | 'INSUFFICIENT_FUNDS'
  | 'PLAYER_BLOCKED'
  | 'LIMIT_REACHED'
  | 'STAKE_ABOVE_LIMIT'
  | 'TRANSACTION_ROLLED_BACK'
  | 'ROUND_ALREADY_SETTLED'
  | 'NOT_ROLLBACKABLE'
  | 'OTHER';

/** A final decision; DECLINED is an answer, not an error. A replay has the balance at the time of the decision. */
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
