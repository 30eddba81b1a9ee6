import type { RoundFacts, SessionFacts } from '../../src/wallet/rules/facts.js';
import { dependsOnBets } from '../../src/wallet/rules/win-kind.js';
import type { ReversedTarget } from '../../src/wallet/rules/decision.js';
import type { UndecidedTransaction } from '../../src/wallet/resolving/undecided.store.js';
import type { TransactionKey } from '../../src/wallet/transaction.js';
import {
  type Claim,
  newClaim,
  type NewTransaction,
  type Settlement,
  type Submission,
} from '../../src/wallet/transaction.js';
import type { LoadedFacts } from '../../src/wallet/transaction.store.js';
import { type RoundKey, roundFacts, roundKey, type Row, storedFacts, undecided } from '../model/rows.js';

/** Planted bugs that the simulation must find. */
export const BUGS = [
  'no-fencing',
  'no-tombstone',
  'settle-without-condition',
  'claim-after-call',
  'no-round-lock',
  'retry-during-rollback',
  'unbound-answer',
] as const;
export type Bug = (typeof BUGS)[number];

/** Time from the last attempt until the resolver takes a transaction up, in milliseconds. */
const DUE_AFTER_MS = 60_000;

interface StoredRow extends Row {
  /** The values that its first claim fixed. */
  readonly claim: Claim | undefined;
  /** For a WIN: the APPROVED BETs at the time of its claim that no ROLLBACK had marked. */
  readonly dependsOn: readonly string[];
  updatedAt: number;
  parked: boolean;
}

/**
 * A model of the statements of wallet/transaction.sql.ts, wallet/claim.sql.ts, wallet/fresh-claim.sql.ts,
 * wallet/settlement.sql.ts and wallet/resolving/undecided.store.ts, with their conditions. Each call is one committed
 * transaction.
 */
export class SimulatedDatabase {
  readonly rows = new Map<string, StoredRow>();
  /** How often a settlement failed because the attempt no longer held its claim. */
  fenced = 0;
  private readonly versions = new Map<string, number>();

  /**
   * @param clock the database's clock, in milliseconds of Unix time
   * @param session the session of every request
   */
  constructor(
    private readonly clock: () => number,
    readonly session: SessionFacts,
    private readonly leaseMs: number,
    private readonly bug: Bug | undefined,
  ) {}

  load({ provider, request }: Submission): LoadedFacts {
    const stored = this.rows.get(request.transactionId);
    const target = this.rows.get(request.originalTransactionId ?? '');
    return {
      provider,
      session: this.session,
      stored: stored
        ? { ...this.factsOf(stored), platformTransactionId: stored.platformTransactionId, reported: null }
        : null,
      target: target ? this.factsOf(target) : null,
      round: this.round(
        roundKey(provider.id, this.session, request),
        request.kind === 'BET' ? [] : this.rows.values(),
      ),
      pause: null,
    };
  }

  /** As CLAIM_NEW_BET and CLAIM_NEW_WIN in fresh-claim.sql.ts; as in fresh-claim.store.ts, a ROLLBACK is not claimed here. */
  tryClaim({ provider, request, platformTransactionId }: Submission): Claim | undefined {
    if (request.kind === 'ROLLBACK' || this.rows.has(request.transactionId)) return undefined;
    const key = roundKey(provider.id, this.session, request);
    const round = this.round(key);
    if (request.kind === 'WIN') {
      const { betStands, betUndecided, betRolledBack } = round;
      const bookable = !dependsOnBets(request) || betStands || !(betUndecided || betRolledBack);
      if (!bookable || !this.moveRound(key, round.version)) return undefined;
    }
    const { operatorId, sessionId, mode } = this.session;
    const amountMinor = request.amountMinor ?? 0;
    return this.insert(
      { providerId: provider.id, platformTransactionId, operatorId, sessionId, mode, request, amountMinor },
      request.kind === 'WIN' && round.betStands,
    );
  }

  claim(transaction: NewTransaction): Claim | undefined {
    return this.rows.has(transaction.request.transactionId) ? undefined : this.insert(transaction);
  }

  claimWin(transaction: NewTransaction, round: RoundFacts): Claim | undefined {
    const { providerId, request } = transaction;
    if (this.rows.has(request.transactionId)) return undefined;
    if (!this.moveRound(roundKey(providerId, transaction, request), round.version)) return undefined;
    return this.insert(transaction, round.betStands);
  }

  claimRollback(
    transaction: NewTransaction,
    { version }: Pick<RoundFacts, 'version'>,
    target: ReversedTarget,
    tombstoneId: string,
  ): Claim | undefined {
    const { providerId, request } = transaction;
    const key = roundKey(providerId, transaction, request);
    const row = this.rows.get(request.originalTransactionId ?? '');
    const may = this.mayTake(target, row) && !this.rows.has(request.transactionId);
    if (!may || !this.moveRound(key, version)) return undefined;
    if (row) Object.assign(row, { rollbackId: request.transactionId, updatedAt: this.clock() });
    else if (this.bug !== 'no-tombstone') this.placeTombstone(transaction, tombstoneId);
    return this.insert(transaction);
  }

  retry(transactionId: string, attempt: number): Claim | undefined {
    const row = this.rows.get(transactionId);
    if (row?.attempt !== attempt || !row.claim || !this.mayBeTakenOver(row)) return undefined;
    if (row.rollbackId !== null && this.bug !== 'retry-during-rollback') return undefined;
    const now = this.clock();
    Object.assign(row, {
      state: 'PENDING',
      attempt: attempt + 1,
      updatedAt: now,
      leaseUntil: now + this.leaseMs,
    });
    return { ...row.claim, attempt: row.attempt, sentMs: now };
  }

  /** @returns false if the attempt no longer holds its claim */
  settle({ operatorRequest, attempt }: Claim, { state, responseBody }: Settlement): boolean {
    const row = this.rows.get(operatorRequest.transactionId);
    if (!row) return false;
    const own = row.attempt === attempt || this.bug === 'no-fencing';
    const open = row.state === 'PENDING' && row.rollbackId === null;
    if (!(own && open) && this.bug !== 'settle-without-condition') {
      this.fenced += 1;
      return false;
    }
    const now = this.clock();
    Object.assign(row, { state, responseBody, leaseUntil: null, updatedAt: now });
    const target = this.rows.get(row.originalTransactionId ?? '');
    if (row.kind === 'ROLLBACK' && state !== 'TIMED_OUT' && target?.rollbackId === row.transactionId) {
      if (state === 'APPROVED') Object.assign(target, { state: 'ROLLED_BACK', leaseUntil: null });
      else target.rollbackId = null;
      target.updatedAt = now;
    }
    return true;
  }

  due(): TransactionKey[] {
    const due = (row: StoredRow) =>
      undecided(row) &&
      !row.parked &&
      row.updatedAt <= this.clock() - DUE_AFTER_MS &&
      this.leaseOver(row) &&
      row.rollbackId === null;
    return [...this.rows.values()].filter(due);
  }

  find({ providerId, transactionId }: TransactionKey): UndecidedTransaction | undefined {
    const row = this.rows.get(transactionId);
    if (!row) return undefined;
    const declinedEnding = (other: Row) =>
      other.originalTransactionId === transactionId &&
      other.transactionId.startsWith('croupier-') &&
      other.state === 'DECLINED';
    return {
      ...this.factsOf(row),
      providerId,
      sessionId: row.sessionId,
      roundVersion: this.versions.get(versionKey(row)) ?? 0,
      declinedEndings: [...this.rows.values()].filter(declinedEnding).length,
    };
  }

  park({ transactionId }: TransactionKey): boolean {
    const row = this.rows.get(transactionId);
    if (!row || row.parked || row.rollbackId !== null || !this.mayBeTakenOver(row)) return false;
    row.parked = true;
    return true;
  }

  private factsOf(row: Row) {
    return storedFacts(row, this.rows.values(), this.clock());
  }

  private round(key: RoundKey, rows: Iterable<Row> = this.rows.values()): RoundFacts {
    return roundFacts(key, this.session.sessionId, rows, this.versions.get(versionKey(key)) ?? 0);
  }

  private moveRound(key: RoundKey, versionRead: number): boolean {
    const version = this.versions.get(versionKey(key)) ?? 0;
    if (version !== versionRead && this.bug !== 'no-round-lock') return false;
    this.versions.set(versionKey(key), version + 1);
    return true;
  }

  private mayTake(target: ReversedTarget, row: StoredRow | undefined): boolean {
    switch (target.found) {
      case 'nothing':
        return row === undefined;
      case 'tombstone':
        return row?.kind === null && row.rollbackId === null;
      case 'bet': {
        const unchanged = row?.kind === 'BET' && row.attempt === target.attempt && row.rollbackId === null;
        return unchanged && (target.approved ? row.state === 'APPROVED' : this.mayBeTakenOver(row));
      }
    }
  }

  private mayBeTakenOver(row: StoredRow): boolean {
    return row.state === 'TIMED_OUT' || (row.state === 'PENDING' && this.leaseOver(row));
  }

  private leaseOver({ leaseUntil }: StoredRow): boolean {
    return leaseUntil === null || leaseUntil <= this.clock();
  }

  private insert(transaction: NewTransaction, standsOnBet = false): Claim {
    const claim = newClaim(transaction, this.clock(), standsOnBet);
    const { platformTransactionId, request, amountMinor } = transaction;
    const now = this.clock();
    const standing = [...this.rows.values()].filter(
      (row) => row.kind === 'BET' && row.state === 'APPROVED' && row.rollbackId === null,
    );
    this.rows.set(request.transactionId, {
      ...rowOf(transaction),
      dependsOn: request.kind === 'WIN' ? standing.map(({ transactionId }) => transactionId) : [],
      transactionId: request.transactionId,
      platformTransactionId,
      kind: request.kind,
      amountMinor,
      originalTransactionId: request.originalTransactionId ?? null,
      freeSpinsRef: request.freeSpinsRef ?? null,
      winKind: request.winKind ?? null,
      promotionRef: request.promotionRef ?? null,
      verdict: transaction.verdict?.status ?? null,
      state: 'PENDING',
      attempt: 1,
      leaseUntil: now + this.leaseMs,
      rollbackId: null,
      updatedAt: now,
      claim,
    });
    return claim;
  }

  private placeTombstone(transaction: NewTransaction, platformTransactionId: string): void {
    const { request, amountMinor } = transaction;
    const { originalTransactionId: transactionId = '' } = request;
    this.rows.set(transactionId, {
      ...rowOf(transaction),
      dependsOn: [],
      transactionId,
      platformTransactionId,
      kind: null,
      amountMinor,
      originalTransactionId: null,
      freeSpinsRef: null,
      winKind: null,
      promotionRef: null,
      verdict: null,
      state: 'ROLLED_BACK',
      attempt: 0,
      leaseUntil: null,
      rollbackId: request.transactionId,
      updatedAt: this.clock(),
      claim: undefined,
    });
  }
}

function rowOf({ providerId, operatorId, sessionId, mode, request }: NewTransaction) {
  const { playerRef, gameId, currency, roundId } = request;
  const round = { providerId, operatorId, sessionId, mode, playerRef, gameId, currency, roundId };
  return { ...round, responseBody: null, parked: false };
}

function versionKey({ roundId, playerRef }: Pick<RoundKey, 'roundId' | 'playerRef'>): string {
  return `${roundId ?? ''} ${playerRef}`;
}
