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

/** It is not known whether the wallet acted: it gave no answer, or an invalid one. */
export interface UnknownOutcome {
  readonly kind: 'unknown';
  readonly cause: 'timeout' | 'unavailable';
  /** Set if the call timed out or its connection failed, so that there was no HTTP answer. */
  readonly noHttpAnswer?: true;
  /** For the log and the transaction's history, never for the provider. */
  readonly detail: string;
  /** The HTTP answer that does not comply with the contract, as far as it was read. */
  readonly received?: ReceivedAnswer;
}

export interface Booked extends WalletTransactionResponse {
  readonly kind: 'decided';
}

export type WalletAnswer = Booked | UnknownOutcome;
export type BalanceAnswer = (WalletBalanceResponse & { readonly kind: 'known' }) | UnknownOutcome;

/** The source of truth for a player's money. Each implementation is an adapter; an operator's configuration names one. */
export interface OperatorWallet {
  /** Books one movement. Never rejects: a missing answer is `unknown`. Contract, section 4. */
  book(request: MovementRequest): Promise<WalletAnswer>;
  /** Reads the balance, in minor units. Never rejects. */
  balance(player: Player): Promise<BalanceAnswer>;
}
