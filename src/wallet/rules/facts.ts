/** The rules' inputs: plain values, so that the rules stay pure. */

export type Kind = 'BET' | 'WIN' | 'ROLLBACK';
export type Mode = 'REAL' | 'DEMO';
export type State = 'PENDING' | 'APPROVED' | 'DECLINED' | 'TIMED_OUT' | 'ROLLED_BACK';

/** Whether it is not known yet what the operator booked. */
export function isUndecided(state: State): state is 'PENDING' | 'TIMED_OUT' {
  return state === 'PENDING' || state === 'TIMED_OUT';
}

/** Why a WIN is paid. Contract, section 3, "A WIN". */
export type WinKind = 'GAME' | 'FREE_SPINS' | 'JACKPOT' | 'PROMOTION' | 'TOURNAMENT';

/** A provider's request. `roundClosed` is stored and forwarded; no rule reads it. */
export interface TransactionRequest {
  readonly transactionId: string;
  readonly kind: Kind;
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
  /** Minor units, 0 … 2^53−1; a ROLLBACK may leave it out. */
  readonly amountMinor?: number;
  readonly roundId: string;
  readonly roundClosed?: boolean;
  readonly originalTransactionId?: string;
  readonly freeSpinsRef?: string;
  /** Of a WIN only; `winKindOf` has the default. */
  readonly winKind?: WinKind;
  /** Of a WIN only. */
  readonly promotionRef?: string;
}

/** The provider that signed the request. */
export interface ProviderFacts {
  readonly id: string;
  /** How long after its session's end a WIN or ROLLBACK is accepted, in seconds. */
  readonly lateSettlementSeconds: number;
}

/** The current state of the session that the request names. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly operatorId: string;
  readonly providerId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
  readonly mode: Mode;
  /** The highest stake of a BET, in minor units; null if the session has none. */
  readonly maxBetMinor: number | null;
  /** Seconds since it expired or was revoked; null while it is live. */
  readonly endedSecondsAgo: number | null;
  /** Whether the game is active and still belongs to the session's provider. */
  readonly gameActive: boolean;
  readonly operatorActive: boolean;
}

/** A stored transaction, or a tombstone, whose `kind` is null. */
export interface StoredFacts {
  readonly transactionId: string;
  readonly kind: Kind | 'ADJUSTMENT' | null;
  readonly state: State;
  readonly operatorId: string;
  readonly mode: Mode;
  readonly playerRef: string;
  readonly gameId: string | null;
  readonly currency: string;
  readonly amountMinor: number;
  readonly roundId: string | null;
  readonly originalTransactionId: string | null;
  readonly freeSpinsRef: string | null;
  /** As the request gave it; `winKindOf` has the default. */
  readonly winKind: WinKind | null;
  readonly promotionRef: string | null;
  /** Whether the platform's own rules have decided it: the operator is called for the balance only. */
  readonly ownVerdict: boolean;
  /** Number of the latest attempt; no earlier attempt can settle any more. */
  readonly attempt: number;
  /** PENDING with a lease that has not expired, by the database's clock. */
  readonly leaseAlive: boolean;
  /** The ROLLBACK that is reversing it or has reversed it; null if there is none. */
  readonly rollbackId: string | null;
  /**
   * Whether a ROLLBACK of it is PENDING or TIMED_OUT. This includes a ROLLBACK that the platform has decided itself,
   * but whose answer still lacks the balance.
   */
  readonly rollbackUndecided: boolean;
  readonly responseBody: string | null;
}

/** Whether the id is stored only because its ROLLBACK came first. */
export function isTombstone(stored: StoredFacts): boolean {
  return stored.kind === null;
}

/** The state of the round that the request names; for a BET, whose rules ignore it, only the version is read. */
export interface RoundFacts {
  /**
   * The round's optimistic lock. The first claim of each WIN or ROLLBACK that is sent to the operator increments it;
   * verdicts of the platform and later attempts do not.
   */
  readonly version: number;
  readonly winApproved: boolean;
  readonly winUndecided: boolean;
  /** A BET is APPROVED and not being rolled back. */
  readonly betStands: boolean;
  /** A BET is PENDING or TIMED_OUT, or its ROLLBACK is in progress. */
  readonly betUndecided: boolean;
  readonly betRolledBack: boolean;
  /** The round has a BET of the request's session that is not DECLINED. */
  readonly betOfSession: boolean;
}

/** A pause that refuses BETs of the session: tenancy/pauses/refuse-paused.ts lists which do. */
export interface PauseFacts {
  readonly kind: 'OPERATOR' | 'PROVIDER' | 'GAME';
  readonly id: string;
  readonly reason: string;
  /** When the pause ends; null if only a resume ends it. */
  readonly until: Date | null;
}

/**
 * Everything that decides a request. It is read in one statement, except for the provider and the pause, which are in
 * memory.
 */
export interface Facts {
  readonly provider: ProviderFacts;
  readonly session: SessionFacts | null;
  readonly stored: StoredFacts | null;
  /** The transaction that `originalTransactionId` names; only a ROLLBACK depends on it. */
  readonly target: StoredFacts | null;
  readonly round: RoundFacts;
  /** The current pause of the session's game, provider or operator. */
  readonly pause: PauseFacts | null;
}
