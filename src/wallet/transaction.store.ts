import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Database, type Query, type Statement } from '../database/database.js';
import { GroupCommit } from '../database/group-commit.js';
import { measure } from '../observability/trace.js';
import { PLATFORM_ID } from '../tenancy/tenant.js';
import type { ReversedTarget } from './rules/decision.js';
import type { Facts, RoundFacts, SessionFacts, StoredFacts } from './rules/facts.js';
import {
  type Claim,
  type NewAdjustment,
  type NewTransaction,
  orderOf,
  type Settlement,
  type SubmittedTransaction,
} from './transaction.js';
import * as sql from './transaction.sql.js';

/** A stored transaction beside what the rules ask of it. */
export interface Stored extends StoredFacts {
  readonly platformTransactionId: string;
}

export interface Opened extends Facts {
  readonly session: SessionFacts | null;
  readonly stored: Stored | null;
  /** A fresh BET or WIN has its claim already. */
  readonly claimed: boolean;
}

/** With what a request looks for what it finds. */
interface Look {
  readonly tokenHash: Buffer;
  /** What its claim is known by, should it make one. */
  readonly platformTransactionId: string;
}

/** The session that a BET was claimed in. */
type ClaimedIn = Pick<SessionFacts, 'operatorId' | 'sessionId' | 'mode'>;

/** What is true of a session, or nothing is claimed in it. */
const LIVE = { endedSecondsAgo: null, gameActive: true, operatorActive: true } as const;

/** A BET stands on no round, and nothing is in a round whose session is unknown. */
const NO_ROUND: RoundFacts = {
  version: 0,
  winApproved: false,
  winUndecided: false,
  betStands: false,
  betUndecided: false,
  betRolledBack: false,
  betOfSession: false,
};

const NOTHING_FOUND: Opened = { session: null, stored: null, target: null, round: NO_ROUND, claimed: false };

interface TransactionRow {
  platform_transaction_id: string;
  transaction_id: string;
  provider_id: string;
  kind: Claim['order']['kind'];
  operator_id: string;
  session_id: string | null;
  mode: Claim['mode'];
  player_ref: string;
  game_id: string | null;
  currency: string;
  amount_minor: number;
  round_id: string | null;
  round_closed: boolean | null;
  original_transaction_id: string | null;
  free_spins_ref: string | null;
  attempt: number;
  verdict: 'APPROVED' | 'DECLINED' | null;
  decline_reason: Extract<Claim['verdict'], { status: 'DECLINED' }>['declineReason'] | null;
}

/** Somebody else claimed a part of what a claim needs: all of it is undone. */
class ClaimLostError extends Error {}

/** Each statement that moves a transaction; every write carries its condition. */
@Injectable()
export class TransactionStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    private readonly groupCommit: GroupCommit,
    configuration: Configuration,
  ) {
    this.leaseSeconds = configuration.transactionLeaseSeconds;
  }

  /** Reads what the attempt finds, unless it is a fresh BET or WIN that nothing stands against: that is claimed. */
  open(providerId: string, asked: SubmittedTransaction, look: Look): Promise<Opened> {
    return measure('claim', () => {
      switch (asked.kind) {
        case 'BET':
          return this.openBet(providerId, asked, look);
        case 'WIN':
          return this.openWin(providerId, asked, look);
        case 'ROLLBACK':
          return this.openRollback(providerId, asked, look);
      }
    });
  }

  /** Claims an id for a verdict of our own, which needs no lock: what it rests on does not change any more. */
  async claim(transaction: NewTransaction): Promise<Claim | undefined> {
    const [row] = await this.named(sql.CLAIM, this.claimValues(transaction));
    return row && fresh(transaction);
  }

  /** Claims a WIN if no other claim settled in its round since it was looked at. */
  async claimWin(transaction: NewTransaction, round: RoundFacts): Promise<Claim | undefined> {
    const [row] = await this.named(sql.CLAIM_WIN, [...this.claimValues(transaction), round.version]);
    return row && fresh(transaction);
  }

  /** Claims an adjustment, which stands on nothing but itself. */
  async claimAdjustment(query: Query, adjustment: NewAdjustment): Promise<Claim | undefined> {
    const { adjustmentId, platformTransactionId, operatorId, playerRef, currency, amountMinor, reason } =
      adjustment;
    const [row] = await query<TransactionRow>(sql.CLAIM_ADJUSTMENT, [
      ...[PLATFORM_ID, adjustmentId, platformTransactionId, operatorId, playerRef, currency, amountMinor],
      ...[reason, this.leaseSeconds],
    ]);
    return row && restored(row);
  }

  /**
   * Claims a ROLLBACK and marks its target, or places its tombstone, in one database transaction; if the
   * round or the target moved since they were looked at, nothing is claimed.
   */
  async claimRollback(
    transaction: NewTransaction,
    round: Pick<RoundFacts, 'version'>,
    target: ReversedTarget,
    tombstoneId: string,
  ): Promise<Claim | undefined> {
    const { providerId, operatorId, mode, asked } = transaction;
    const key = [providerId, operatorId, asked.playerRef, asked.gameId, asked.roundId, mode];
    try {
      return await measure('claim', () =>
        this.database.transaction(async (query) => {
          await held(query, sql.MOVE_ROUND, [...key, round.version]);
          await this.takeTarget(query, transaction, target, tombstoneId);
          await held(query, sql.CLAIM, this.claimValues(transaction));
          return fresh(transaction);
        }),
      );
    } catch (error) {
      if (error instanceof ClaimLostError) return undefined;
      throw error;
    }
  }

  /** Takes over an attempt that nobody decided; the operator's request comes back as it was fixed. */
  async retry(providerId: string, transactionId: string, attempt: number): Promise<Claim | undefined> {
    const values = [providerId, transactionId, attempt, this.leaseSeconds];
    const [row] = await this.named<TransactionRow>(sql.RETRY, values);
    return row && restored(row);
  }

  /** Settles an attempt, and with a ROLLBACK its target; false where the attempt is no longer ours. */
  settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    const { providerId, transactionId, kind } = claim.order;
    const { state, responseBody, declineReason, record } = settlement;
    const statement = kind === 'ROLLBACK' ? sql.SETTLE_ROLLBACK : sql.SETTLE;
    const values = [providerId, transactionId, claim.attempt, state, responseBody, declineReason];
    return measure('settle', () => this.groupCommit.run(statement, [...values, JSON.stringify(record)])).then(
      (settled) => settled !== undefined,
    );
  }

  /** What a BET finds is only looked for where it was not claimed: hardly ever. */
  private async openBet(providerId: string, asked: SubmittedTransaction, look: Look): Promise<Opened> {
    const { transactionId, playerRef, gameId, currency } = asked;
    const values = this.submittedValues(providerId, asked, look);
    const claimed = await this.groupCommit.run<ClaimedIn>(sql.CLAIM_BET, values);
    if (claimed) {
      const { operatorId, sessionId, mode } = claimed;
      const session = { operatorId, sessionId, mode, providerId, playerRef, gameId, currency, ...LIVE };
      return { ...NOTHING_FOUND, session, claimed: true };
    }
    const looked = [providerId, transactionId, look.tokenHash];
    return openedFrom(await this.groupCommit.run<Partial<Opened>>(sql.LOOK_AT_BET, looked), look);
  }

  private async openWin(providerId: string, asked: SubmittedTransaction, look: Look): Promise<Opened> {
    const values = this.submittedValues(providerId, asked, look);
    return openedFrom(await this.groupCommit.run<Partial<Opened>>(sql.OPEN_WIN, values), look);
  }

  private async openRollback(
    providerId: string,
    asked: SubmittedTransaction,
    { tokenHash }: Look,
  ): Promise<Opened> {
    const { transactionId, playerRef, gameId, roundId, originalTransactionId } = asked;
    const [found] = await this.database.query<Partial<Opened>>(sql.OPEN_ROLLBACK, [
      ...[providerId, transactionId, tokenHash, playerRef, gameId, roundId],
      originalTransactionId ?? null,
    ]);
    return { ...NOTHING_FOUND, ...found };
  }

  private async takeTarget(
    query: Query,
    transaction: NewTransaction,
    target: ReversedTarget,
    tombstoneId: string,
  ): Promise<void> {
    const { providerId, operatorId, sessionId, mode, asked, amountMinor } = transaction;
    const { transactionId, originalTransactionId, playerRef, gameId, currency, roundId } = asked;
    const marked = [providerId, originalTransactionId, transactionId];
    switch (target.found) {
      case 'bet':
        return held(query, sql.MARK_TARGET, [...marked, target.attempt]);
      case 'tombstone':
        return held(query, sql.MARK_TOMBSTONE, marked);
      case 'nothing':
        return held(query, sql.PLACE_TOMBSTONE, [
          ...[providerId, originalTransactionId, tombstoneId, operatorId, sessionId, mode, playerRef],
          ...[gameId, currency, amountMinor, roundId, transactionId],
        ]);
    }
  }

  private submittedValues(
    providerId: string,
    asked: SubmittedTransaction,
    { tokenHash, platformTransactionId }: Look,
  ): unknown[] {
    const { transactionId, playerRef, gameId, roundId, currency, amountMinor } = asked;
    return [
      ...[providerId, transactionId, tokenHash, playerRef, gameId, roundId],
      ...[platformTransactionId, currency, amountMinor, asked.roundClosed ?? null],
      ...[asked.originalTransactionId ?? null, asked.freeSpinsRef ?? null, this.leaseSeconds],
    ];
  }

  private claimValues(transaction: NewTransaction): unknown[] {
    const { providerId, platformTransactionId, operatorId, sessionId, mode, asked, verdict } = transaction;
    return [
      ...[providerId, asked.transactionId, platformTransactionId, asked.kind, operatorId, sessionId, mode],
      ...[asked.playerRef, asked.gameId, asked.currency, transaction.amountMinor, asked.roundId],
      ...[asked.roundClosed ?? null, asked.originalTransactionId ?? null, asked.freeSpinsRef ?? null],
      ...[verdict?.status ?? null, verdict?.status === 'DECLINED' ? verdict.declineReason : null],
      this.leaseSeconds,
    ];
  }

  private named<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return measure('claim', () => this.database.query<Row>(statement, values));
  }
}

function openedFrom(found: Partial<Opened> | undefined, { platformTransactionId }: Look): Opened {
  const opened = { ...NOTHING_FOUND, ...found };
  return { ...opened, claimed: opened.claimed || isFreshClaim(opened.stored, platformTransactionId) };
}

/** Whether what is stored is the claim that we have just made, where only the answer of its commit was lost. */
function isFreshClaim(stored: Stored | null, platformTransactionId: string): boolean {
  return stored?.platformTransactionId === platformTransactionId && stored.attempt === 1 && stored.leaseAlive;
}

/** A statement that must touch its row, or the whole claim is undone. */
async function held(query: Query, statement: Statement, values: readonly unknown[]): Promise<void> {
  const rows = await query(statement, values);
  if (rows.length === 0) throw new ClaimLostError(statement.name);
}

/** The claim of a transaction that was nobody's before. */
export function fresh(transaction: NewTransaction): Claim {
  const { platformTransactionId, operatorId, sessionId, mode, verdict } = transaction;
  return {
    attempt: 1,
    ...{ platformTransactionId, operatorId, sessionId, mode },
    order: orderOf(transaction),
    ...(verdict && { verdict }),
  };
}

function restored(row: TransactionRow): Claim {
  const verdict: Claim['verdict'] =
    row.verdict === 'APPROVED'
      ? { status: 'APPROVED' }
      : row.verdict === 'DECLINED'
        ? { status: 'DECLINED', declineReason: row.decline_reason ?? 'OTHER' }
        : undefined;
  return {
    attempt: row.attempt,
    platformTransactionId: row.platform_transaction_id,
    operatorId: row.operator_id,
    sessionId: row.session_id,
    mode: row.mode,
    order: {
      transactionId: row.transaction_id,
      providerId: row.provider_id,
      kind: row.kind,
      playerRef: row.player_ref,
      ...(row.game_id !== null && { gameId: row.game_id }),
      currency: row.currency,
      amountMinor: row.amount_minor,
      ...(row.round_id !== null && { roundId: row.round_id }),
      ...(row.round_closed !== null && { roundClosed: row.round_closed }),
      ...(row.original_transaction_id !== null && { originalTransactionId: row.original_transaction_id }),
      ...(row.free_spins_ref !== null && { freeSpinsRef: row.free_spins_ref }),
    },
    ...(verdict && { verdict }),
  };
}
