import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import type { Query } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import { Metrics } from '../observability/metrics.js';
import { currentRequestId } from '../observability/trace.js';
import type {
  OperatorWallet,
  MovementRequest,
  UnknownOutcome,
  WalletAnswer,
} from '../operator-wallet/operator-wallet.js';
import {
  OperatorWallets,
  type ReservedCall,
  type WalletOwner,
} from '../operator-wallet/operator-wallets.service.js';
import { Clock, monotonicMs } from '../runtime/clock.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { AttemptIds } from './attempt-ids.js';
import { declineReason, responseBody } from './rules/outcome.js';
import { OperatorAnswers } from './operator-answers.js';
import type { AnswerByHand, Claim, Driver, Settlement } from './transaction.js';
import { TransactionStore } from './transaction.store.js';

/** The outcome of an attempt; `lost` if another attempt or a ROLLBACK has taken the transaction over meanwhile. */
export type AttemptOutcome =
  | { readonly to: 'lost' }
  | { readonly to: 'decided'; readonly state: 'APPROVED' | 'DECLINED'; readonly responseBody: string }
  | { readonly to: 'unknown'; readonly unknown: UnknownOutcome };

/** A claimed attempt, with its reserved call to the operator. */
export interface ClaimedAttempt {
  readonly to: 'execute';
  readonly claim: Claim;
  readonly call: ReservedCall;
}

export type ClaimOutcome =
  | ClaimedAttempt
  /** Another request was faster, or the claim's conditions do not hold. */
  | { readonly to: 'lost' }
  /** The operator's bound on concurrent calls or its breaker refused the call; nothing was claimed. */
  | { readonly to: 'refused' };

/**
 * An APPROVED real-money transaction after which a WIN may have to be flagged: the WIN itself, or a ROLLBACK. If the
 * ROLLBACK reversed a BET, WINs of the same round may no longer have an APPROVED BET.
 */
export interface WinningsTrigger {
  readonly kind: 'WIN' | 'ROLLBACK';
  readonly providerId: string;
  readonly transactionId: string;
}

/**
 * Executes claimed attempts: calls the operator and settles the attempt, in the same way for the provider, the resolver
 * and an administrator. Contract, section 3.
 */
@Injectable()
export class AttemptRunner {
  private readonly winningsWatchers: ((trigger: WinningsTrigger) => void)[] = [];

  constructor(
    private readonly configuration: Configuration,
    private readonly clock: Clock,
    private readonly tenancy: TenancyService,
    private readonly wallets: OperatorWallets,
    private readonly transactions: TransactionStore,
    private readonly metrics: Metrics,
    private readonly operatorAnswers: OperatorAnswers,
    private readonly attemptIds: AttemptIds,
  ) {}

  /**
   * Registers a watcher of the transactions after which a WIN may have to be flagged, whether the provider, the
   * resolver or an administrator settled them.
   * @param watcher not awaited; must not throw. It is called after each APPROVED real-money transaction that is
   * - a ROLLBACK that may have reversed a BET, or
   * - a WIN that names a freeSpinsRef, exceeds its limit, or is not known to have an APPROVED BET in its round.
   */
  onWinningsTrigger(watcher: (trigger: WinningsTrigger) => void): void {
    this.winningsWatchers.push(watcher);
  }

  /**
   * Reserves a call to the operator and then claims an attempt, so that every claimed attempt can be sent. Contract,
   * section 9, "Health and pauses".
   * @param commitClaim resolves with undefined if the claim is lost
   */
  async claim(
    owner: Pick<WalletOwner, 'operatorId' | 'mode'>,
    kind: MovementRequest['kind'],
    commitClaim: () => Promise<Claim | undefined>,
  ): Promise<ClaimOutcome> {
    const call = this.wallets.reserve(owner, kind);
    if (!call) return { to: 'refused' };
    let claim: Claim | undefined;
    try {
      claim = await commitClaim();
    } finally {
      if (!claim) call.release();
    }
    return claim ? { to: 'execute', claim, call } : { to: 'lost' };
  }

  /**
   * Calls the operator and settles the attempt with the answer. If the process dies before the settlement is committed,
   * the transaction stays PENDING; once its lease has expired, a retry by the provider or the resolver takes it over.
   */
  async execute(claimed: ClaimedAttempt, driver: Driver): Promise<AttemptOutcome> {
    const { claim } = claimed;
    const started = { at: this.clock.now(), ms: monotonicMs() };
    const limitMinor = this.exceededWinLimit(claim);
    const answer = await this.markAndCall(claimed, limitMinor);
    const settlement = this.settlementOf(claim, answer, driver, started);
    const settled = await this.transactions.settle(claim, settlement);
    this.rememberIds(claim, settlement);
    if (answer.kind === 'unknown' && answer.received) await this.operatorAnswers.keep(claim, answer.received);
    if (!settled) return { to: 'lost' };
    this.reportSettled(claim, settlement, limitMinor);
    if (answer.kind === 'unknown') return { to: 'unknown', unknown: answer };
    return { to: 'decided', state: answer.status, responseBody: settlement.responseBody ?? '' };
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
    const limitMinor = status === 'APPROVED' ? this.exceededWinLimit(claim) : undefined;
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
    const settlement = this.settlementOf(claim, answer, 'administrator', started);
    const record = {
      ...settlement.record,
      balance: balance ?? undefined,
      settledByHand: { operatorReference, reason },
    };
    const settled = { ...settlement, record };
    if (!(await this.transactions.settleWithin(query, claim, settled))) {
      throw new Error('an attempt could not be settled in the transaction that claimed it');
    }
    return () => this.reportSettled(claim, settled, limitMinor);
  }

  /** Reports a committed settlement to the metrics and the watchers. */
  private reportSettled(claim: Claim, { state }: Settlement, limitMinor: number | undefined): void {
    const { providerId, kind } = claim.operatorRequest;
    this.metrics.transactionSettled(claim.operatorId, providerId, kind, state, claim.mode);
    if (state === 'APPROVED' && (limitMinor !== undefined || mayFlagWinnings(claim)))
      this.triggerReview(claim);
  }

  /**
   * The limit, in minor units, that a WIN with real money exceeds; undefined if it exceeds none. Such a WIN is booked
   * nevertheless. Contract, section 9.
   */
  private exceededWinLimit({ mode, operatorId, verdict, operatorRequest }: Claim): number | undefined {
    if (operatorRequest.kind !== 'WIN' || mode !== 'REAL' || verdict !== undefined) return undefined;
    const limitMinor = this.tenancy.maxWinMinor(operatorId, operatorRequest.currency);
    return limitMinor !== undefined && operatorRequest.amountMinor > limitMinor ? limitMinor : undefined;
  }

  /**
   * Marks a WIN above its limit, then calls the operator; the reserved call is released, whatever happens. In the
   * reverse order, a crash between the two could leave a booked WIN without its mark.
   */
  private async markAndCall(
    { claim, call }: ClaimedAttempt,
    limitMinor: number | undefined,
  ): Promise<WalletAnswer> {
    try {
      if (limitMinor !== undefined) await this.transactions.markAboveLimit(claim, limitMinor);
      return await this.callOperator(claim);
    } finally {
      call.release();
    }
  }

  private rememberIds({ operatorRequest, platformTransactionId }: Claim, { record }: Settlement): void {
    const { providerId, transactionId } = operatorRequest;
    const { requestId, operatorTransactionId } = record;
    this.attemptIds.remember({
      providerId,
      transactionId,
      platformTransactionId,
      requestId,
      operatorTransactionId,
    });
  }

  private triggerReview({ operatorRequest: { kind, providerId, transactionId } }: Claim): void {
    if (kind !== 'WIN' && kind !== 'ROLLBACK') return;
    for (const watcher of this.winningsWatchers) watcher({ kind, providerId, transactionId });
  }

  private async callOperator(claim: Claim): Promise<WalletAnswer> {
    // Without this check, a process that was suspended after its claim could call the operator while another process
    // has the lease.
    const operator = this.tenancy.operator(claim.operatorId);
    const timeoutMs = operator ? this.tenancy.walletTimeoutMs(operator) : 0;
    if (monotonicMs() - claim.sentMs + timeoutMs >= this.configuration.transactionLeaseSeconds * 1000) {
      return LEASE_TOO_SHORT;
    }
    const wallet = this.wallets.behind(claim);
    return claim.verdict
      ? withBalance(claim.verdict, claim.operatorRequest, wallet)
      : wallet.book(claim.operatorRequest);
  }

  private settlementOf(
    claim: Claim,
    answer: WalletAnswer,
    driver: Driver,
    started: { at: Date; ms: number },
  ): Settlement {
    const record = <Outcome extends object>(outcome: Outcome) => ({
      attempt: claim.attempt,
      driver: driver === 'provider' ? undefined : driver,
      requestId: currentRequestId(),
      startedAt: started.at.toISOString(),
      durationMs: Math.round(monotonicMs() - started.ms),
      ...outcome,
    });
    if (answer.kind === 'unknown') {
      return {
        state: 'TIMED_OUT',
        responseBody: null,
        declineReason: null,
        record: record({
          outcome: codeOf(answer),
          detail: answer.detail,
          operatorStatus: answer.received?.status,
          notSent: answer.notSent,
        }),
      };
    }
    const { status, balance, reason, operatorTransactionId, detail } = answer;
    const declined = status === 'DECLINED' ? declineReason(reason) : undefined;
    const { transactionId, currency } = claim.operatorRequest;
    const { platformTransactionId } = claim;
    const body = { transactionId, platformTransactionId, status, balance, currency, declineReason: declined };
    return {
      state: status,
      responseBody: responseBody(body),
      declineReason: declined ?? null,
      record: record({ outcome: status, balance, reason, operatorTransactionId, detail }),
    };
  }
}

/**
 * Whether an APPROVED attempt may cause a WIN to be flagged for a reason other than its limit. A WIN without a
 * freeSpinsRef in a round with an APPROVED BET does not. Neither does a ROLLBACK with a verdict, because it has
 * reversed nothing.
 */
function mayFlagWinnings({ mode, verdict, standsOnBet = false, operatorRequest }: Claim): boolean {
  const { kind, freeSpinsRef } = operatorRequest;
  if (mode !== 'REAL') return false;
  if (kind === 'WIN') return freeSpinsRef !== undefined || !standsOnBet;
  return kind === 'ROLLBACK' && verdict === undefined;
}

const LEASE_TOO_SHORT: UnknownOutcome = {
  kind: 'unknown',
  cause: 'timeout',
  notSent: true,
  detail: 'the lease would expire before the call times out',
};

/** Completes a verdict with the player's current balance. */
async function withBalance(
  verdict: NonNullable<Claim['verdict']>,
  { playerRef, currency }: Claim['operatorRequest'],
  wallet: OperatorWallet,
): Promise<WalletAnswer> {
  const answer = await wallet.balance({ playerRef, currency });
  if (answer.kind === 'unknown') return answer;
  const reason = verdict.status === 'DECLINED' ? verdict.declineReason : undefined;
  return {
    kind: 'decided',
    status: verdict.status,
    balance: answer.balance,
    ...(reason !== undefined && { reason }),
  };
}

/** `Retry-After` of a request that the operator's bound on concurrent calls or its breaker refused, in seconds. */
const RETRY_AFTER_SECONDS = 1;

/** The refusal of a request whose call could not be reserved. Contract, section 9, "Health and pauses". */
export function refusedCall(): CroupierError {
  return new CroupierError('OPERATOR_UNAVAILABLE', undefined, { 'Retry-After': String(RETRY_AFTER_SECONDS) });
}

/** The error code for a missing or invalid answer of an operator. */
export function codeOf(unknown: UnknownOutcome): 'OPERATOR_TIMED_OUT' | 'OPERATOR_UNAVAILABLE' {
  return unknown.cause === 'timeout' ? 'OPERATOR_TIMED_OUT' : 'OPERATOR_UNAVAILABLE';
}
