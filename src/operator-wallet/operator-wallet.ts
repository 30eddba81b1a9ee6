import type { ReceivedAnswer } from '../outbound/answer.js';
import type {
  WalletBalanceRequest,
  WalletBalanceResponse,
  WalletTransactionRequest,
  WalletTransactionResponse,
} from './wallet-messages.js';

/** One movement, as the operator's wallet is asked to book it. Contract, section 4. */
export type Order = WalletTransactionRequest;
export type Player = WalletBalanceRequest;

/** Nobody can say whether the wallet acted: silence, or an answer that is none. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly cause: 'timeout' | 'unavailable';
  /** Whether a call was sent that timed out or whose connection failed: not an HTTP answer of any kind. */
  readonly noHttpAnswer?: true;
  /** For the log and the transaction's history, never for the provider. */
  readonly detail: string;
  /** The HTTP answer that arrived although it is no answer of the contract, as far as it was read. */
  readonly received?: ReceivedAnswer;
}

export interface Booked extends WalletTransactionResponse {
  readonly kind: 'decided';
}

export type WalletAnswer = Booked | Unknown;
export type BalanceAnswer = (WalletBalanceResponse & { readonly kind: 'known' }) | Unknown;

/** The source of truth for a player's money. Each adapter is one file; an operator names its own. */
export interface OperatorWallet {
  /** Books one movement. Never rejects: silence comes back as `unknown`. Contract, section 4. */
  book(order: Order): Promise<WalletAnswer>;
  /** Reads the balance, in minor units. Never rejects. */
  balance(player: Player): Promise<BalanceAnswer>;
}
