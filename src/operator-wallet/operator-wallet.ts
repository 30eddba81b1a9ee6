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

/** The wallet gave no answer or an invalid one, so it is not known whether it booked the movement. */
export interface UnknownOutcome {
  readonly kind: 'unknown';
  readonly cause: 'timeout' | 'unavailable';
  /**
   * Set if no complete HTTP answer arrived, because the call timed out, its connection failed, or `Outbound` refused to
   * send it. The breaker counts such a call as failed. Not set for an answer that is too large.
   */
  readonly noHttpAnswer?: true;
  /** Why there is no valid answer. The log and the transaction's history show it; the provider never sees it. */
  readonly detail: string;
  /** The incomplete or invalid HTTP answer, as far as it was read. */
  readonly received?: ReceivedAnswer;
}

export interface Booked extends WalletTransactionResponse {
  readonly kind: 'decided';
}

export type WalletAnswer = Booked | UnknownOutcome;
export type BalanceAnswer = (WalletBalanceResponse & { readonly kind: 'known' }) | UnknownOutcome;

/** The wallet that keeps a player's balance: an operator's wallet, or that of a DEMO session. */
export interface OperatorWallet {
  /** Books one movement. Never rejects: a missing or invalid answer is `unknown`. Contract, section 4. */
  book(request: MovementRequest): Promise<WalletAnswer>;
  /** Reads the balance, in minor units. Never rejects. */
  balance(player: Player): Promise<BalanceAnswer>;
}
