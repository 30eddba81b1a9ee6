/** One movement, as the operator's wallet is asked to book it. Contract, section 4. */
export interface Order {
  readonly transactionId: string;
  readonly providerId: string;
  readonly kind: 'BET' | 'WIN' | 'ROLLBACK' | 'ADJUSTMENT';
  readonly playerRef: string;
  readonly gameId?: string;
  readonly currency: string;
  /** Minor units, 0 … 2^53−1; negative for an ADJUSTMENT alone. */
  readonly amountMinor: number;
  readonly roundId?: string;
  readonly roundClosed?: boolean;
  readonly originalTransactionId?: string;
  readonly freeSpinsRef?: string;
}

export interface Player {
  readonly playerRef: string;
  readonly currency: string;
}

/** Nobody can say whether the wallet acted: silence, or an answer that is none. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly cause: 'timeout' | 'unavailable';
  /** For the log and the transaction's history, never for the provider. */
  readonly detail: string;
}

export interface Booked {
  readonly kind: 'decided';
  readonly status: 'APPROVED' | 'DECLINED';
  /** Minor units after the booking; it may be negative. */
  readonly balance: number;
  /** The operator's own word for a DECLINED. */
  readonly reason?: string;
  readonly operatorTransactionId?: string;
}

export type WalletAnswer = Booked | Unknown;
export type BalanceAnswer = { readonly kind: 'known'; readonly balance: number } | Unknown;

/** The source of truth for a player's money. Each adapter is one file; an operator names its own. */
export interface OperatorWallet {
  /** Books one movement. Never rejects: silence comes back as `unknown`. Contract, section 4. */
  book(order: Order): Promise<WalletAnswer>;
  /** Reads the balance, in minor units. Never rejects. */
  balance(player: Player): Promise<BalanceAnswer>;
}
