import type { CallResult } from '../health-scores/calls-of-period.js';
import type { HealthScores } from '../health-scores/health-scores.service.js';
import type { Metrics } from '../observability/metrics.js';
import { measureCall } from '../observability/trace.js';
import { monotonicMs } from '../runtime/clock.js';
import type {
  BalanceAnswer,
  CallKind,
  MovementRequest,
  OperatorWallet,
  Player,
  WalletAnswer,
} from './operator-wallet.js';

/** Measures the calls to an operator's wallet: each has a span, and counts in the metrics and the health score. */
export class MeasuredWallet implements OperatorWallet {
  constructor(
    private readonly wallet: OperatorWallet,
    private readonly operatorId: string,
    private readonly metrics: Metrics,
    private readonly healthScores: HealthScores,
  ) {}

  book(request: MovementRequest): Promise<WalletAnswer> {
    return this.trace(request.kind, request.transactionId, () => this.wallet.book(request));
  }

  balance(player: Player): Promise<BalanceAnswer> {
    return this.trace('BALANCE', undefined, () => this.wallet.balance(player));
  }

  private trace<Answer extends WalletAnswer | BalanceAnswer>(
    operation: CallKind,
    transactionId: string | undefined,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    return measureCall(
      'operator',
      () => this.measure(operation, call),
      (answer) => ({
        'croupier.operatorId': this.operatorId,
        'croupier.operation': operation,
        ...(transactionId !== undefined && { 'croupier.transactionId': transactionId }),
        'croupier.outcome': answer ? outcomeOf(answer) : 'failed',
      }),
    );
  }

  private async measure<Answer extends WalletAnswer | BalanceAnswer>(
    operation: CallKind,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    const startedMs = monotonicMs();
    this.metrics.operatorCallStarted();
    let outcome: string | undefined;
    try {
      const answer = await call();
      outcome = outcomeOf(answer);
      this.healthScores.callEnded(this.operatorId, healthOf(answer), monotonicMs() - startedMs);
      return answer;
    } finally {
      this.metrics.operatorCallEnded(this.operatorId, operation, outcome, monotonicMs() - startedMs);
    }
  }
}

function outcomeOf(answer: WalletAnswer | BalanceAnswer): string {
  if (answer.kind === 'unknown') return answer.misdirected ? 'misdirected' : answer.cause;
  return answer.kind === 'decided' ? answer.status : answer.kind;
}

function healthOf(answer: WalletAnswer | BalanceAnswer): CallResult {
  if (answer.kind !== 'unknown') return 'succeeded';
  return answer.cause === 'timeout' ? 'timeout' : 'failed';
}
