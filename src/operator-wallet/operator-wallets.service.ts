import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { HealthScores } from '../health-scores/health-scores.service.js';
import { Metrics } from '../observability/metrics.js';
import { Outbound } from '../outbound/outbound.service.js';
import { Clock } from '../runtime/clock.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { DemoBooks } from './demo-books.js';
import { GatedWallet, type ReservedCall } from './gated.wallet.js';
import { LoggedWallet } from './logged.wallet.js';
import { MeasuredWallet } from './measured.wallet.js';
import type { CallKind, OperatorWallet } from './operator-wallet.js';
import { SignedJsonWallet } from './signed-json.wallet.js';

/** Identifies a wallet: by its operator, and for DEMO by the session. An adjustment has no session. */
export interface WalletOwner {
  readonly operatorId: string;
  readonly mode: 'REAL' | 'DEMO';
  readonly sessionId: string | null;
}

/** Chooses the wallet of each session. */
@Injectable()
export class OperatorWallets {
  /** By operator id. It needs no bound, because operators are few and never deleted. */
  private readonly operators = new Map<
    string,
    { readonly gate: GatedWallet; readonly wallet: OperatorWallet }
  >();

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
          value: Number(gate.isBreakerOpen()),
        })),
      combine: Math.max,
    });
  }

  /** See `GatedWallet.reserve`. Calls of DEMO reach no operator and are not limited. */
  reserve(
    { operatorId, mode }: Pick<WalletOwner, 'operatorId' | 'mode'>,
    kind: CallKind,
  ): ReservedCall | undefined {
    return mode === 'DEMO' ? UNLIMITED : this.operator(operatorId).gate.reserve(kind);
  }

  wouldAdmit({ operatorId, mode }: Pick<WalletOwner, 'operatorId' | 'mode'>, kind: CallKind): boolean {
    return mode === 'DEMO' || this.operator(operatorId).gate.wouldAdmit(kind);
  }

  /**
   * The wallet of an owner. If the operator is unknown to this instance, each call is answered with `unknown`, as if the
   * wallet were unreachable.
   */
  walletOf({ operatorId, mode, sessionId }: WalletOwner): OperatorWallet {
    if (mode === 'DEMO') return this.demoBooks.walletOf(sessionId ?? operatorId);
    return this.operator(operatorId).wallet;
  }

  private operator(operatorId: string) {
    const known = this.operators.get(operatorId);
    if (known) return known;
    const { configuration, tenancy, outbound, clock, metrics, healthScores } = this;
    const signed = new SignedJsonWallet(operatorId, tenancy, outbound);
    const gate = new GatedWallet(signed, operatorId, configuration.operatorMaxInFlight, clock, metrics);
    const logged = new LoggedWallet(gate, operatorId);
    const operator = { gate, wallet: new MeasuredWallet(logged, operatorId, metrics, healthScores) };
    this.operators.set(operatorId, operator);
    return operator;
  }

  private openBreakers(): string[] {
    return [...this.operators]
      .filter(([, { gate }]) => gate.isBreakerOpen())
      .map(([operatorId]) => operatorId);
  }
}

const UNLIMITED: ReservedCall = { release: () => undefined };
