import { Injectable } from '@nestjs/common';
import type { Query } from '../database/database.js';
import type { WalletAnswer } from '../operator-wallet/operator-wallet.js';
import { Clock, monotonicMs } from '../runtime/clock.js';
import { Activity } from './activity/activity.service.js';
import { type AttemptOutcome, AttemptRunner } from './attempt.runner.js';
import { settlementOf } from './settlement.js';
import type { AnswerByHand, Claim, NewAdjustment, TransactionKey } from './transaction.js';
import { TransactionStore } from './transaction.store.js';
import { WinMonitor } from './win-monitor.js';

/** The attempts that administrators make: adjustments, and settlements by hand. Contract, sections 7 and 9. */
@Injectable()
export class ManualAttempts {
  constructor(
    private readonly transactions: TransactionStore,
    private readonly attempts: AttemptRunner,
    private readonly winMonitor: WinMonitor,
    private readonly activity: Activity,
    private readonly clock: Clock,
  ) {}

  /** Claims an adjustment in the caller's database transaction; undefined if its id is taken. */
  claimAdjustment(query: Query, adjustment: NewAdjustment): Promise<Claim | undefined> {
    return this.transactions.claimAdjustment(query, adjustment);
  }

  /**
   * Claims the next attempt of an undecided transaction in the caller's database transaction; undefined if another
   * attempt or a ROLLBACK was faster.
   * @param attempt the latest attempt that the caller knows
   */
  claimNext(
    query: Query,
    { providerId, transactionId }: TransactionKey,
    attempt: number,
  ): Promise<Claim | undefined> {
    return this.transactions.retry(providerId, transactionId, attempt, query);
  }

  /** Reserves the call to the operator, claims the adjustment and sends it; `refused` if no call could be reserved. */
  async adjust(
    operatorId: string,
    commitClaim: () => Promise<Claim | undefined>,
  ): Promise<AttemptOutcome | { readonly to: 'refused' }> {
    const claimed = await this.attempts.claim({ operatorId, mode: 'REAL' }, 'ADJUSTMENT', commitClaim);
    return claimed.to === 'execute' ? this.attempts.execute(claimed, 'administrator') : claimed;
  }

  /**
   * Settles an attempt with an answer that a person entered, in the database transaction of its claim and without a
   * call to the operator. Contract, section 9, "Settling by hand".
   *
   * The stored answer always has a balance, because providers require one: the entered balance, else the operator's
   * last balance for the player, else 0. The history contains a balance only if the person entered one.
   * @returns a function that reports the settlement, to be called after the commit
   */
  async settleByHand(query: Query, claim: Claim, byHand: AnswerByHand): Promise<() => void> {
    const { status, balance, operatorReference, reason } = byHand;
    const limitMinor = status === 'APPROVED' ? this.winMonitor.exceededLimit(claim) : undefined;
    if (limitMinor !== undefined) await this.transactions.markAboveLimit(claim, limitMinor, query);
    const storedBalance = balance ?? (await this.transactions.lastBalance(query, claim)) ?? 0;
    const ownReason = claim.verdict?.status === 'DECLINED' ? claim.verdict.declineReason : undefined;
    const answer: WalletAnswer = {
      kind: 'decided',
      status,
      balance: storedBalance,
      ...(ownReason !== undefined && { reason: ownReason }),
    };
    const started = { at: this.clock.now(), ms: monotonicMs() };
    const settlement = settlementOf(claim, answer, 'administrator', started);
    const record = {
      ...settlement.record,
      balance: balance ?? undefined,
      settledByHand: { operatorReference, reason },
    };
    const byHandSettlement = { ...settlement, record };
    const settled = await this.transactions.settleWithin(query, claim, byHandSettlement);
    if (!settled) throw new Error('an attempt could not be settled in the transaction that claimed it');
    return () => {
      this.winMonitor.settled(claim, byHandSettlement, limitMinor);
      this.activity.settled(claim, byHandSettlement, settled);
    };
  }
}
