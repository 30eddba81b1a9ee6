import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import type { CallOutcome } from '../health-scores/calls-of-period.js';
import { HealthScores } from '../health-scores/health-scores.service.js';
import { Metrics } from '../observability/metrics.js';
import { measureCall } from '../observability/trace.js';
import { Outbound } from '../outbound/outbound.service.js';
import { Clock, monotonicMs } from '../runtime/clock.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { DemoBooks } from './demo-books.js';
import { DemoWallet } from './demo.wallet.js';
import { type CallKind, OperatorGate } from './operator-gate.js';
import type { OperatorWallet, UnknownOutcome } from './operator-wallet.js';
import { SignedJsonWallet } from './signed-json.wallet.js';

/** Identifies a wallet: by its operator, and for DEMO by the session. An adjustment has no session. */
export interface WalletOwner {
  readonly operatorId: string;
  readonly mode: 'REAL' | 'DEMO';
  readonly sessionId: string | null;
}

/** A reserved call to an operator. It counts as under way until `release`, which must be called exactly once. */
export interface ReservedCall {
  release(): void;
}

/** The state of an operator at this instance: its gate, and whether its breaker was open after the last call. */
interface OperatorState {
  readonly gate: OperatorGate;
  breakerOpen: boolean;
}

/** Provides the wallet of each session. Admits and measures the calls to operators. */
@Injectable()
export class OperatorWallets {
  private readonly logger = new Logger('OperatorWallet');
  /** By operator id. It needs no bound, because operators are few and never deleted. */
  private readonly operators = new Map<string, OperatorState>();

  constructor(
    private readonly configuration: Configuration,
    private readonly tenancy: TenancyService,
    private readonly outbound: Outbound,
    private readonly demoBooks: DemoBooks,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
    private readonly healthScores: HealthScores,
  ) {
    healthScores.readOpenBreakersFrom(() => this.openBreakers());
    metrics.addGauge({
      name: 'croupier_operator_breaker_open',
      help: 'Whether the breaker of an operator is open at this instance: 1 or 0',
      labelNames: ['operator'],
      read: async () =>
        Array.from(this.operators, ([operator, { gate }]) => ({
          operator,
          value: Number(gate.breaker.isOpen(this.clock.monotonicMs())),
        })),
      combine: Math.max,
    });
  }

  /**
   * Reserves a call, before anything is claimed for it. Contract, section 9, "Health and pauses".
   * @returns undefined if the operator has too many calls under way, or if the call is a BET that the open breaker does
   *   not admit
   */
  reserve(
    { operatorId, mode }: Pick<WalletOwner, 'operatorId' | 'mode'>,
    kind: CallKind,
  ): ReservedCall | undefined {
    if (mode === 'DEMO') return UNLIMITED;
    const state = this.stateOf(operatorId);
    const refusal = state.gate.enter(kind, this.clock.monotonicMs());
    if (!refusal) return { release: () => state.gate.leave() };
    this.metrics.operatorCallRefused(operatorId, kind, refusal);
    return undefined;
  }

  /**
   * Whether `reserve` would admit a call of this kind now, without the one BET per second that an open breaker admits.
   * Reserves and counts nothing.
   */
  wouldAdmit({ operatorId, mode }: Pick<WalletOwner, 'operatorId' | 'mode'>, kind: CallKind): boolean {
    if (mode === 'DEMO') return true;
    const { gate } = this.stateOf(operatorId);
    return !gate.isFull(kind) && !(kind === 'BET' && gate.breaker.isOpen(this.clock.monotonicMs()));
  }

  /**
   * The wallet of an owner. Its calls are traced and measured, except those of DEMO. If the operator is unknown to this
   * instance, each call is answered with `unknown`, as if the wallet were unreachable.
   */
  behind(owner: WalletOwner): OperatorWallet {
    const wallet = this.adapter(owner);
    return {
      book: (request) => this.trace(owner, request.kind, request.transactionId, () => wallet.book(request)),
      balance: (player) => this.trace(owner, 'BALANCE', undefined, () => wallet.balance(player)),
    };
  }

  private trace<T extends MeasuredAnswer>(
    owner: WalletOwner,
    operation: string,
    transactionId: string | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    if (owner.mode === 'DEMO') return call();
    return measureCall(
      'operator',
      () => this.measure(owner, operation, transactionId, call),
      (answer) => ({
        'croupier.operatorId': owner.operatorId,
        'croupier.operation': operation,
        ...(transactionId !== undefined && { 'croupier.transactionId': transactionId }),
        'croupier.outcome': answer ? outcomeOf(answer) : 'failed',
      }),
    );
  }

  private stateOf(operatorId: string): OperatorState {
    let state = this.operators.get(operatorId);
    if (!state) {
      state = { gate: new OperatorGate(this.configuration.operatorMaxInFlight), breakerOpen: false };
      this.operators.set(operatorId, state);
    }
    return state;
  }

  private openBreakers(): string[] {
    const nowMs = this.clock.monotonicMs();
    return [...this.operators]
      .filter(([, { gate }]) => gate.breaker.isOpen(nowMs))
      .map(([operatorId]) => operatorId);
  }

  /**
   * Counts the result of a call for the health score and the breaker. Logs one line if the breaker has opened or closed
   * since the previous call.
   */
  private recordCall(operatorId: string, answer: MeasuredAnswer, durationMs: number): void {
    this.healthScores.callEnded(operatorId, healthOf(answer), durationMs);
    const state = this.stateOf(operatorId);
    const nowMs = this.clock.monotonicMs();
    state.gate.breaker.record('noHttpAnswer' in answer ? 'failed' : 'answered', nowMs);
    const open = state.gate.breaker.isOpen(nowMs);
    if (open === state.breakerOpen) return;
    state.breakerOpen = open;
    if (open)
      this.logger.warn({ msg: 'breaker open: BETs are refused, except for one each second', operatorId });
    else this.logger.log({ msg: 'breaker closed', operatorId });
  }

  private adapter({ operatorId, mode, sessionId }: WalletOwner): OperatorWallet {
    if (mode === 'DEMO') return new DemoWallet(this.demoBooks, sessionId ?? operatorId);
    const operator = this.tenancy.operator(operatorId);
    if (!operator) return OUT_OF_REACH;
    return new SignedJsonWallet(this.outbound, {
      operatorId,
      walletBaseUrl: operator.walletBaseUrl,
      secret: this.tenancy.signingSecret(operatorId),
      timeoutMs: this.tenancy.walletTimeoutMs(operator),
    });
  }

  private async measure<T extends MeasuredAnswer>(
    owner: WalletOwner,
    operation: string,
    transactionId: string | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    const startedMs = monotonicMs();
    this.metrics.operatorCallStarted();
    let outcome: string | undefined;
    try {
      const answer = await call();
      outcome = outcomeOf(answer);
      this.recordCall(owner.operatorId, answer, monotonicMs() - startedMs);
      if (answer.kind === 'unknown') {
        const { cause, detail, misdirected, notSent } = answer as UnknownOutcome;
        const { operatorId } = owner;
        this.logger.warn({
          msg: misdirected
            ? 'the answer names another call, or none; its connection was closed'
            : 'no valid answer from the wallet',
          operatorId,
          operation,
          transactionId,
          cause,
          detail,
          ...(notSent && { notSent }),
        });
      }
      const { reason } = answer as { reason?: string };
      if (reason !== undefined) {
        this.logger.log({
          msg: 'reason given by the wallet',
          operatorId: owner.operatorId,
          transactionId,
          reason,
        });
      }
      return answer;
    } finally {
      this.metrics.operatorCallEnded(owner.operatorId, operation, outcome, monotonicMs() - startedMs);
    }
  }
}

type MeasuredAnswer = { kind: string; status?: string } | UnknownOutcome;

function outcomeOf(answer: { kind: string; status?: string; cause?: string; misdirected?: true }): string {
  if (answer.misdirected) return 'misdirected';
  return answer.status ?? answer.cause ?? answer.kind;
}

function healthOf(answer: { kind: string; cause?: string }): CallOutcome {
  if (answer.kind !== 'unknown') return 'succeeded';
  return answer.cause === 'timeout' ? 'timeout' : 'failed';
}

/** The reservation for DEMO, where calls reach no operator and are not limited. */
const UNLIMITED: ReservedCall = { release: () => undefined };

const NOT_CONFIGURED: UnknownOutcome = {
  kind: 'unknown',
  cause: 'unavailable',
  notSent: true,
  detail: 'the operator is unknown to this instance',
};

const OUT_OF_REACH: OperatorWallet = {
  book: () => Promise.resolve(NOT_CONFIGURED),
  balance: () => Promise.resolve(NOT_CONFIGURED),
};
