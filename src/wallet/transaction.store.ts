import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Database, type OnSend, type Query } from '../database/database.js';
import type { Statement } from '../database/statement.js';
import { GroupCommit } from '../database/group-commit.js';
import type { GroupStatement } from '../database/group-statement.js';
import { measure } from '../observability/trace.js';
import { monotonicMs } from '../runtime/clock.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { PLATFORM_ID } from '../tenancy/tenant.js';
import * as claims from './claim.sql.js';
import type { DeclineReason, ReversedTarget, Verdict } from './rules/decision.js';
import type { Facts, RoundFacts, StoredFacts } from './rules/facts.js';
import * as settlements from './settlement.sql.js';
import {
  ABSENT,
  type Claim,
  type MovementFields,
  type NewAdjustment,
  newClaim,
  type NewTransaction,
  operatorRequestOf,
  type Settled,
  type Settlement,
  type Submission,
} from './transaction.js';
import * as sql from './transaction.sql.js';

/** A stored transaction: the facts for the rules, its id at the platform, and what the provider received last. */
export interface StoredTransaction extends StoredFacts {
  readonly platformTransactionId: string;
  /** The outcome that the provider received last, such as OPERATOR_TIMED_OUT; null if it received none. */
  readonly reported: string | null;
}

/** The facts of a request, with more of the stored transaction than the rules need. */
export interface LoadedFacts extends Facts {
  readonly stored: StoredTransaction | null;
}

/** A transaction that a statement has taken over or claimed. */
interface ClaimedRow extends Omit<Claim, 'operatorRequest' | 'verdict' | 'sentMs'>, MovementFields {
  readonly providerId: string;
  readonly amountMinor: number;
  readonly verdict: Verdict['status'] | null;
  readonly declineReason: DeclineReason | null;
}

/** Another request changed something that a claim depends on: the whole claim is rolled back. */
class ClaimLostError extends Error {}

/** Loads the facts of requests. Claims and settles attempts; every write is conditional on the current state. */
@Injectable()
export class TransactionStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    private readonly groupCommit: GroupCommit,
    private readonly tenancy: TenancyService,
    configuration: Configuration,
  ) {
    this.leaseSeconds = configuration.transactionLeaseSeconds;
  }

  /** Reads everything that decides the request in one statement, except for the pause, which is in memory. */
  async load({ provider, request, tokenHash }: Submission): Promise<LoadedFacts> {
    const { transactionId, kind, playerRef, gameId, roundId, originalTransactionId: targetId } = request;
    const values = {
      providerId: provider.id,
      transactionId,
      kind,
      tokenHash,
      playerRef,
      gameId,
      roundId,
      targetId,
    };
    const row = await measure('load', () =>
      this.groupCommit.run<Omit<LoadedFacts, 'provider' | 'pause'>>(sql.LOAD, values),
    );
    if (!row) throw new Error('loading a transaction returned no row');
    const pause = (row.session && this.tenancy.pauseOfBets(row.session)) ?? null;
    return { ...row, provider, pause };
  }

  /**
   * Claims an unused id for a BET, or for the platform's own verdict. Neither needs the round's lock: a BET depends on
   * no other transaction, and the transactions behind such a verdict no longer change. A session end or
   * a new BET of the round between the read and the claim is treated as if it came after the claim.
   * @returns undefined if the id is taken
   */
  async claim(transaction: NewTransaction): Promise<Claim | undefined> {
    return this.claimNew(claims.CLAIM, transaction);
  }

  /** @returns undefined if the id is taken, or the round's version has changed since it was read */
  async claimWin(transaction: NewTransaction, round: RoundFacts): Promise<Claim | undefined> {
    return this.claimNew(claims.CLAIM_WIN, transaction, round);
  }

  /**
   * Claims an adjustment in the caller's database transaction.
   * @returns undefined if its id is taken
   */
  claimAdjustment(query: Query, adjustment: NewAdjustment): Promise<Claim | undefined> {
    const values = { ...adjustment, providerId: PLATFORM_ID, leaseSeconds: this.leaseSeconds };
    return claimStored(query, claims.CLAIM_ADJUSTMENT, values);
  }

  /** Marks a WIN above its operator's limit, whatever its outcome will be. */
  async markAboveLimit(
    { operatorRequest }: Claim,
    limitMinor: number,
    query: Query = this.database.query,
  ): Promise<void> {
    await query(sql.MARK_ABOVE_LIMIT, { ...operatorRequest, limitMinor });
  }

  /**
   * Claims a ROLLBACK and marks its target, or stores a tombstone, in one database transaction.
   * @returns undefined if the id is taken, or the round's version or the target has changed since it was read; nothing
   *   is stored then
   */
  async claimRollback(
    transaction: NewTransaction,
    round: Pick<RoundFacts, 'version'>,
    target: ReversedTarget,
    tombstoneId: string,
  ): Promise<Claim | undefined> {
    const values = {
      ...this.claimValues(transaction),
      roundVersion: round.version,
      ...(target.found === 'bet' && { targetAttempt: target.attempt, targetApproved: target.approved }),
      tombstoneId,
    };
    try {
      return await measure('claim', () =>
        this.database.transaction(async ({ query }) => {
          await requireRow(query, claims.MOVE_ROUND, values);
          await requireRow(query, claims.TAKE_TARGET[target.found], values);
          const sentMs = monotonicMs();
          await requireRow(query, claims.CLAIM.single, values);
          return newClaim(transaction, sentMs);
        }),
      );
    } catch (error) {
      if (error instanceof ClaimLostError) return undefined;
      throw error;
    }
  }

  /**
   * Takes over an undecided transaction with a new attempt. The operator receives the same request as in the first
   * attempt.
   * @returns undefined if another attempt or a ROLLBACK was faster
   */
  retry(
    providerId: string,
    transactionId: string,
    attempt: number,
    query: Query = this.database.query,
  ): Promise<Claim | undefined> {
    const values = { providerId, transactionId, attempt, leaseSeconds: this.leaseSeconds };
    return claimStored(query, claims.RETRY, values);
  }

  /**
   * Settles an attempt. An APPROVED or DECLINED ROLLBACK also updates its target.
   * @returns undefined if another attempt or a ROLLBACK has taken the transaction over
   */
  settle(claim: Claim, settlement: Settlement): Promise<Settled | undefined> {
    const { statement, values } = settling(claim, settlement);
    return measure('settle', () => this.groupCommit.run<Settled>(statement, values));
  }

  /** Settles like `settle`, but in the database transaction of the claim. */
  async settleWithin(query: Query, claim: Claim, settlement: Settlement): Promise<Settled | undefined> {
    const { statement, values } = settling(claim, settlement);
    return (await query<Settled>(statement.single, values))[0];
  }

  /** Records the status of a 200 that the provider receives without an attempt, such as a replay. */
  async recordReported(
    providerId: string,
    transactionId: string,
    status: 'APPROVED' | 'DECLINED',
  ): Promise<void> {
    await this.database.query(sql.RECORD_REPORTED, { providerId, transactionId, status });
  }

  /**
   * The balance in the last stored answer for the player, in minor units; undefined if none of the player's newest
   * transactions has one.
   */
  async lastBalance(query: Query, { operatorId, mode, operatorRequest }: Claim): Promise<number | undefined> {
    const values = { ...operatorRequest, operatorId, mode };
    return (await query<{ balance: number }>(sql.LAST_BALANCE, values))[0]?.balance;
  }

  /** The values of a claim, and of the statements that take the target of a ROLLBACK. */
  private claimValues({ request, verdict, ...transaction }: NewTransaction) {
    return {
      ...transaction,
      ...ABSENT,
      ...request,
      amountMinor: transaction.amountMinor,
      verdict: verdict?.status,
      declineReason: verdict?.status === 'DECLINED' ? verdict.declineReason : undefined,
      leaseSeconds: this.leaseSeconds,
    };
  }

  /** @returns undefined if nothing was claimed */
  private async claimNew(
    statement: GroupStatement,
    transaction: NewTransaction,
    round?: RoundFacts,
  ): Promise<Claim | undefined> {
    const values = { ...this.claimValues(transaction), roundVersion: round?.version };
    const { row, sentMs } = await sendClaim((onSend) => this.groupCommit.run(statement, values, onSend));
    return row && newClaim(transaction, sentMs, round?.betStands);
  }
}

/**
 * Sends a claim.
 * @returns the claimed row, undefined if nothing was claimed; and the monotonic time at which the claim was sent
 */
export async function sendClaim<Row extends object>(
  send: (onSend: OnSend) => Promise<Row | undefined>,
): Promise<{ row: Row | undefined; sentMs: number }> {
  let sentMs = monotonicMs();
  const row = await measure('claim', () => send((atMs) => (sentMs = atMs)));
  return { row, sentMs };
}

/** Sends a claim that returns the request as it is stored. */
async function claimStored(query: Query, statement: Statement, values: object): Promise<Claim | undefined> {
  const { row, sentMs } = await sendClaim(
    async (onSend) => (await query<ClaimedRow>(statement, values, onSend))[0],
  );
  return row && restored(row, sentMs);
}

function settling(
  { operatorRequest, attempt }: Claim,
  { state, responseBody, declineReason, record }: Settlement,
) {
  const { providerId, transactionId, kind } = operatorRequest;
  const statement = kind === 'ROLLBACK' ? settlements.SETTLE_ROLLBACK : settlements.SETTLE;
  const values = { providerId, transactionId, attempt, state, responseBody, declineReason, record };
  return { statement, values };
}

/** @throws ClaimLostError if the statement touches no row */
async function requireRow(query: Query, statement: Statement, values: object): Promise<void> {
  const rows = await query(statement, values);
  if (rows.length === 0) throw new ClaimLostError(statement.name);
}

function restored(row: ClaimedRow, sentMs: number): Claim {
  const { attempt, platformTransactionId, operatorId, sessionId, mode, verdict, declineReason } = row;
  const claim = {
    attempt,
    sentMs,
    platformTransactionId,
    operatorId,
    sessionId,
    mode,
    operatorRequest: operatorRequestOf(row, row),
  };
  if (verdict === null) return claim;
  if (verdict === 'APPROVED') return { ...claim, verdict: { status: verdict } };
  return { ...claim, verdict: { status: verdict, declineReason: declineReason ?? 'OTHER' } };
}
