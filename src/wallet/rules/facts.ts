/** What the rules know of the world; plain values, so that the rules stay pure. */

export type Kind = 'BET' | 'WIN' | 'ROLLBACK';
export type Mode = 'REAL' | 'DEMO';
export type State = 'PENDING' | 'APPROVED' | 'DECLINED' | 'TIMED_OUT' | 'ROLLED_BACK';

/** What a provider asks for. */
export interface Asked {
  readonly transactionId: string;
  readonly kind: Kind;
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
  /** Minor units, 0 … 2^53−1; a ROLLBACK may leave it out. */
  readonly amountMinor?: number;
  readonly roundId: string;
  readonly originalTransactionId?: string;
  readonly freeSpinsRef?: string;
}

/** The session that the request names, as it stands now. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly operatorId: string;
  readonly providerId: string;
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
  readonly mode: Mode;
  /** Seconds since it expired or was revoked; null while it lives. */
  readonly endedSecondsAgo: number | null;
  /** Whether the game may take a BET of this provider now. */
  readonly gameActive: boolean;
  readonly operatorActive: boolean;
}

/** A stored transaction, or a tombstone: then `kind` is null and its rollback came first. */
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
  /** Counts the attempts; whoever settles must name the one it holds. */
  readonly attempt: number;
  /** PENDING with its lease not over, by the database's clock. */
  readonly leaseAlive: boolean;
  /** The ROLLBACK that reverses, reversed or may have reversed it. */
  readonly rollbackId: string | null;
  /** Whether any ROLLBACK of it is PENDING or TIMED_OUT, one that only waits for its balance included. */
  readonly rollbackUndecided: boolean;
  readonly responseBody: string | null;
}

/** Whether nothing is stored but that its rollback came first. */
export function isTombstone(stored: StoredFacts): boolean {
  return stored.kind === null;
}

/** What else happened in the round that the request names. */
export interface RoundFacts {
  /** Moves with each claim of a WIN or a ROLLBACK: the round's lock. */
  readonly version: number;
  readonly winApproved: boolean;
  readonly winUndecided: boolean;
  /** A BET is APPROVED and not being rolled back. */
  readonly betStands: boolean;
  /** A BET is PENDING or TIMED_OUT, or its ROLLBACK is under way. */
  readonly betUndecided: boolean;
  readonly betRolledBack: boolean;
  /** A BET of the request's own session, not DECLINED, is in it. */
  readonly betOfSession: boolean;
}

export interface Facts {
  readonly session: SessionFacts | null;
  readonly stored: StoredFacts | null;
  /** The transaction that a ROLLBACK names. */
  readonly target: StoredFacts | null;
  readonly round: RoundFacts;
}
