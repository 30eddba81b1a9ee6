import type {
  Kind,
  Mode,
  RoundFacts,
  State,
  StoredFacts,
  TransactionRequest,
  WinKind,
} from '../../src/wallet/rules/facts.js';
import { settlesRound } from '../../src/wallet/rules/win-kind.js';

/** A row of `transactions`, with the columns that the rules and the statements use. */
export interface Row {
  readonly providerId: string;
  readonly transactionId: string;
  readonly platformTransactionId: string;
  /** null for a tombstone. */
  readonly kind: Kind | 'ADJUSTMENT' | null;
  readonly operatorId: string;
  readonly sessionId: string | null;
  readonly mode: Mode;
  readonly playerRef: string;
  readonly gameId: string | null;
  readonly currency: string;
  readonly amountMinor: number;
  readonly roundId: string | null;
  readonly originalTransactionId: string | null;
  readonly freeSpinsRef: string | null;
  readonly winKind: WinKind | null;
  readonly promotionRef: string | null;
  readonly verdict: 'APPROVED' | 'DECLINED' | null;
  state: State;
  attempt: number;
  /** In milliseconds of the database's clock. */
  leaseUntil: number | null;
  rollbackId: string | null;
  responseBody: string | null;
}

/** The round that a request names, in its session. */
export type RoundKey = Pick<Row, 'providerId' | 'operatorId' | 'playerRef' | 'gameId' | 'roundId' | 'mode'>;

/**
 * A transaction as wallet/transaction.sql.ts reads it (`STORED_COLUMNS`).
 * @param now Unix time of the database's clock, in milliseconds
 */
export function storedFacts(row: Row, rows: Iterable<Row>, now: number): StoredFacts {
  return {
    transactionId: row.transactionId,
    kind: row.kind,
    state: row.state,
    operatorId: row.operatorId,
    mode: row.mode,
    playerRef: row.playerRef,
    gameId: row.gameId,
    currency: row.currency,
    amountMinor: row.amountMinor,
    roundId: row.roundId,
    originalTransactionId: row.originalTransactionId,
    freeSpinsRef: row.freeSpinsRef,
    winKind: row.winKind,
    promotionRef: row.promotionRef,
    ownVerdict: row.verdict !== null,
    attempt: row.attempt,
    leaseAlive: row.state === 'PENDING' && row.leaseUntil !== null && row.leaseUntil > now,
    rollbackId: row.rollbackId,
    rollbackUndecided: some(
      rows,
      (other) =>
        other.providerId === row.providerId &&
        other.originalTransactionId === row.transactionId &&
        other.kind === 'ROLLBACK' &&
        undecided(other),
    ),
    responseBody: row.responseBody,
  };
}

/**
 * The round as wallet/transaction.sql.ts reads it (`ROUND_OF_SESSION`).
 * @param version the version in the round's row of `rounds`
 */
export function roundFacts(
  key: RoundKey,
  sessionId: string,
  rows: Iterable<Row>,
  version: number,
): RoundFacts {
  const ofRound: Row[] = [];
  for (const row of rows) if (inRound(row, key)) ofRound.push(row);
  const bets = ofRound.filter(({ kind }) => kind === 'BET');
  const wins = ofRound.filter((row) => row.kind === 'WIN' && settlesRound(row));
  return {
    version,
    winApproved: wins.some(({ state }) => state === 'APPROVED'),
    winUndecided: wins.some(undecided),
    betStands: bets.some(({ state, rollbackId }) => state === 'APPROVED' && rollbackId === null),
    betUndecided: bets.some((bet) => undecided(bet) || (bet.state === 'APPROVED' && bet.rollbackId !== null)),
    betRolledBack: bets.some(({ state }) => state === 'ROLLED_BACK'),
    betOfSession: bets.some((bet) => bet.state !== 'DECLINED' && bet.sessionId === sessionId),
  };
}

export function roundKey(
  providerId: string,
  session: { readonly operatorId: string; readonly mode: Mode },
  { playerRef, gameId, roundId }: Pick<TransactionRequest, 'playerRef' | 'gameId' | 'roundId'>,
): RoundKey {
  return { providerId, operatorId: session.operatorId, playerRef, gameId, roundId, mode: session.mode };
}

export function undecided({ state }: Pick<Row, 'state'>): boolean {
  return state === 'PENDING' || state === 'TIMED_OUT';
}

function inRound(row: Row, key: RoundKey): boolean {
  return (
    row.providerId === key.providerId &&
    row.operatorId === key.operatorId &&
    row.playerRef === key.playerRef &&
    row.gameId === key.gameId &&
    row.roundId === key.roundId &&
    row.mode === key.mode
  );
}

function some<T>(items: Iterable<T>, matches: (item: T) => boolean): boolean {
  for (const item of items) if (matches(item)) return true;
  return false;
}
