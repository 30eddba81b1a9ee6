import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { Metrics } from '../observability/metrics.js';
import { currentRequestId } from '../observability/trace.js';
import type { OperatorWallet, Unknown, WalletAnswer } from '../operator-wallet/operator-wallet.js';
import { OperatorWallets } from '../operator-wallet/operator-wallets.service.js';
import { Clock, monotonicMs } from '../runtime/clock.js';
import { isoText } from '../runtime/instant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { declineReason, responseBody } from './rules/outcome.js';
import type { Claim, Driver, Settlement } from './transaction.js';
import { TransactionStore } from './transaction.store.js';

/** What an attempt came to, as it is stored now; `lost` where another attempt took it over meanwhile. */
export type CarriedOut =
  | { readonly to: 'lost' }
  | { readonly to: 'decided'; readonly state: 'APPROVED' | 'DECLINED'; readonly responseBody: string }
  | { readonly to: 'unknown'; readonly unknown: Unknown };

/** An APPROVED transaction of real money by which a WIN may have become one that a person should look at. */
export interface WinningsTrigger {
  readonly kind: 'WIN' | 'ROLLBACK';
  readonly providerId: string;
  readonly transactionId: string;
}

/**
 * Carries out an attempt under its claim: asks the operator, stores what it says. Whoever drives it, a provider,
 * the resolver or a person, it is the same call and the same condition. Contract, section 3.
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
  ) {}

  /**
   * @param watcher called after each APPROVED ROLLBACK that reversed something, and after each APPROVED WIN that names a
   *   freeSpinsRef or is not known to stand on a BET, with any driver; not awaited, and must not throw
   */
  onWinningsTrigger(watcher: (trigger: WinningsTrigger) => void): void {
    this.winningsWatchers.push(watcher);
  }

  /**
   * @param claimedMs a moment not after the claim, of the monotonic clock
   * @param betStands whether a BET was seen to stand in the round of this WIN, since its claim or before; it then stands
   *   as long as the WIN is undecided
   */
  async carryOut(claim: Claim, claimedMs: number, driver: Driver, betStands = false): Promise<CarriedOut> {
    const started = { at: this.clock.now(), ms: monotonicMs() };
    const answer = await this.ask(claim, claimedMs);
    const settlement = this.settlement(claim, answer, driver, started);
    if (!(await this.transactions.settle(claim, settlement))) return { to: 'lost' };
    const settled = { kind: claim.order.kind, state: settlement.state, mode: claim.mode };
    this.metrics.later(({ transactions }) => transactions.inc(settled));
    if (answer.kind === 'unknown') return { to: 'unknown', unknown: answer };
    if (answer.status === 'APPROVED' && mayFlagWinnings(claim, betStands)) this.triggerReview(claim);
    return { to: 'decided', state: answer.status, responseBody: settlement.responseBody ?? '' };
  }

  private triggerReview({ order: { kind, providerId, transactionId } }: Claim): void {
    if (kind !== 'WIN' && kind !== 'ROLLBACK') return;
    for (const watcher of this.winningsWatchers) watcher({ kind, providerId, transactionId });
  }

  private ask(claim: Claim, claimedMs: number): Promise<WalletAnswer> {
    // A process that slept since its claim could call while another already holds the lease.
    const operator = this.tenancy.operator(claim.operatorId);
    const timeoutMs = operator ? this.tenancy.walletTimeoutMs(operator) : 0;
    if (monotonicMs() - claimedMs + timeoutMs >= this.configuration.transactionLeaseSeconds * 1000) {
      return Promise.resolve(OUTLIVED);
    }
    const wallet = this.wallets.behind(claim);
    return claim.verdict ? withBalance(claim.verdict, claim.order, wallet) : wallet.book(claim.order);
  }

  private settlement(
    claim: Claim,
    answer: WalletAnswer,
    driver: Driver,
    started: { at: Date; ms: number },
  ): Settlement {
    // What it came to follows: an object that begins with another's fields and goes on with its own is slow to make.
    const record = <CameTo extends object>(cameTo: CameTo) => ({
      attempt: claim.attempt,
      driver: driver === 'provider' ? undefined : driver,
      requestId: currentRequestId(),
      startedAt: isoText(started.at),
      durationMs: Math.round(monotonicMs() - started.ms),
      ...cameTo,
    });
    if (answer.kind === 'unknown') {
      return {
        state: 'TIMED_OUT',
        responseBody: null,
        declineReason: null,
        record: record({ outcome: codeOf(answer), detail: answer.detail }),
      };
    }
    const { status, balance, reason, operatorTransactionId } = answer;
    const declined = status === 'DECLINED' ? declineReason(reason) : undefined;
    const { transactionId, currency } = claim.order;
    const { platformTransactionId } = claim;
    const body = { transactionId, platformTransactionId, status, balance, currency, declineReason: declined };
    return {
      state: status,
      responseBody: responseBody(body),
      declineReason: declined ?? null,
      record: record({ outcome: status, balance, reason, operatorTransactionId }),
    };
  }
}

/**
 * Whether a WIN may be flagged since this claim is APPROVED. No ROLLBACK takes a BET from an undecided WIN, so one that
 * stands on a BET needs no look. A verdict of our own reverses nothing.
 */
function mayFlagWinnings(
  { mode, verdict, order: { kind, freeSpinsRef } }: Claim,
  betStands: boolean,
): boolean {
  if (mode !== 'REAL') return false;
  if (kind === 'WIN') return freeSpinsRef !== undefined || !betStands;
  return kind === 'ROLLBACK' && verdict === undefined;
}

const OUTLIVED: Unknown = {
  kind: 'unknown',
  cause: 'timeout',
  detail: 'the lease would not outlive the call',
};

/** A verdict of our own, of which the operator is only asked the balance. */
async function withBalance(
  verdict: NonNullable<Claim['verdict']>,
  { playerRef, currency }: Claim['order'],
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

/** The error with which a caller learns that the operator gave no answer. */
export function codeOf(unknown: Unknown): 'OPERATOR_TIMED_OUT' | 'OPERATOR_UNAVAILABLE' {
  return unknown.cause === 'timeout' ? 'OPERATOR_TIMED_OUT' : 'OPERATOR_UNAVAILABLE';
}
