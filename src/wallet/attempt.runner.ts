import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import type {
  OperatorWallet,
  MovementRequest,
  UnknownOutcome,
  WalletAnswer,
} from '../operator-wallet/operator-wallet.js';
import type { ReservedCall } from '../operator-wallet/gated.wallet.js';
import { OperatorWallets, type WalletOwner } from '../operator-wallet/operator-wallets.service.js';
import { Clock, monotonicMs } from '../runtime/clock.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { Activity } from './activity/activity.service.js';
import { AttemptIds } from './evidence/attempt-ids.js';
import { OperatorAnswers } from './evidence/operator-answers.js';
import { settlementOf } from './settlement.js';
import type { Claim, Driver, Settlement } from './transaction.js';
import { TransactionStore } from './transaction.store.js';
import { WinMonitor } from './win-monitor.js';

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

type ClaimOutcome =
  | ClaimedAttempt
  /** Another request was faster, or the claim's conditions do not hold. */
  | { readonly to: 'lost' }
  /** The operator's bound on concurrent calls or its breaker refused the call; nothing was claimed. */
  | { readonly to: 'refused' };

/**
 * Executes claimed attempts: calls the operator and settles the attempt, in the same way for the provider, the resolver
 * and an administrator. Contract, section 3.
 */
@Injectable()
export class AttemptRunner {
  constructor(
    private readonly configuration: Configuration,
    private readonly clock: Clock,
    private readonly tenancy: TenancyService,
    private readonly wallets: OperatorWallets,
    private readonly transactions: TransactionStore,
    private readonly winMonitor: WinMonitor,
    private readonly activity: Activity,
    private readonly operatorAnswers: OperatorAnswers,
    private readonly attemptIds: AttemptIds,
  ) {}

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
    if (driver === 'provider') this.activity.submitted(claim);
    const started = { at: this.clock.now(), ms: monotonicMs() };
    const limitMinor = this.winMonitor.exceededLimit(claim);
    const answer = await this.markAndCall(claimed, limitMinor);
    const settlement = settlementOf(claim, answer, driver, started);
    const settled = await this.transactions.settle(claim, settlement);
    this.rememberIds(claim, settlement);
    if (answer.kind === 'unknown' && answer.received) await this.operatorAnswers.keep(claim, answer.received);
    if (!settled) return { to: 'lost' };
    this.winMonitor.settled(claim, settlement, limitMinor);
    this.activity.settled(claim, settlement, settled);
    if (answer.kind === 'unknown') return { to: 'unknown', unknown: answer };
    return { to: 'decided', state: answer.status, responseBody: settlement.responseBody ?? '' };
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
    const ids = { providerId, transactionId, platformTransactionId, requestId, operatorTransactionId };
    this.attemptIds.remember(ids);
  }

  private async callOperator(claim: Claim): Promise<WalletAnswer> {
    // Without this check, a process that was suspended after its claim could call the operator while another process
    // has the lease.
    const operator = this.tenancy.operator(claim.operatorId);
    const timeoutMs = operator ? this.tenancy.walletTimeoutMs(operator) : 0;
    if (monotonicMs() - claim.sentMs + timeoutMs >= this.configuration.transactionLeaseSeconds * 1000) {
      return LEASE_TOO_SHORT;
    }
    const wallet = this.wallets.walletOf(claim);
    return claim.verdict
      ? withBalance(claim.verdict, claim.operatorRequest, wallet)
      : wallet.book(claim.operatorRequest);
  }
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

/**
 * An operator whose calls are refused seldom recovers sooner. A refusal costs almost as much CPU as a BET, so hundreds of
 * clients that repeat each second would slow down the other operators.
 */
const RETRY_AFTER_SECONDS = 5;

/** The refusal of a request whose call could not be reserved. Contract, section 9, "Health and pauses". */
export function refusedCall(): CroupierError {
  return new CroupierError('OPERATOR_UNAVAILABLE', undefined, { 'Retry-After': String(RETRY_AFTER_SECONDS) });
}
