import type { ReceivedAnswer } from '../outbound/answer.js';
import type {
  WalletBalanceRequest,
  WalletBalanceResponse,
  WalletTransactionRequest,
  WalletTransactionResponse,
} from './wallet-messages.js';

/** A movement for the operator's wallet to book. Contract, section 4. */
export type MovementRequest = WalletTransactionRequest;
export type Player = WalletBalanceRequest;
export type CallKind = MovementRequest['kind'] | 'BALANCE';

/**
 * The wallet gave no answer or an invalid one. Unless nothing was sent, it is not known whether it booked the movement.
 */
export interface UnknownOutcome {
  readonly kind: 'unknown';
  readonly cause: 'timeout' | 'unavailable';
  /**
   * Set if no complete HTTP answer arrived, because the call timed out, its connection failed, or `Outbound` refused to
   * send it. The breaker counts such a call as failed. Not set for an answer that is too large.
   */
  readonly noHttpAnswer?: true;
  /** Set if no connection was made, so that the wallet has received nothing. */
  readonly notSent?: true;
  /** Set if the answer names another call, or none. Its connection has been closed. */
  readonly misdirected?: true;
  /** Set if the answer is a 200 that cannot be read, so that it names no call. Its connection has been closed. */
  readonly unreadable?: true;
  /** Why there is no valid answer. The log and the transaction's history show it; the provider never sees it. */
  readonly detail: string;
  /** The system's own message, which may name hosts. Only the log shows it. */
  readonly systemMessage?: string;
  /** The incomplete or invalid HTTP answer, as far as it was read. */
  readonly received?: ReceivedAnswer;
}

/** The wallet's decision, without what it repeats from the request. */
export interface Booked extends Omit<WalletTransactionResponse, 'transactionId'> {
  readonly kind: 'decided';
  /** What is wrong with a part of the answer that was ignored. */
  readonly detail?: string;
}

export type WalletAnswer = Booked | UnknownOutcome;
export type BalanceAnswer =
  (Pick<WalletBalanceResponse, 'balance'> & { readonly kind: 'known' }) | UnknownOutcome;

/** The wallet that keeps a player's balance: an operator's wallet, or that of a DEMO session. */
export interface OperatorWallet {
  /** Books one movement. Never rejects: a missing or invalid answer is `unknown`. Contract, section 4. */
  book(request: MovementRequest): Promise<WalletAnswer>;
  /** Reads the balance, in minor units. Never rejects. */
  balance(player: Player): Promise<BalanceAnswer>;
}
