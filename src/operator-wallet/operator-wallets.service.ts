import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';
import { recordDuration } from '../observability/trace.js';
import { Outbound } from '../outbound/outbound.service.js';
import { monotonicMs } from '../runtime/clock.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { DemoBooks } from './demo-books.js';
import { DemoWallet } from './demo.wallet.js';
import type { OperatorWallet, Unknown } from './operator-wallet.js';
import { SignedJsonWallet } from './signed-json.wallet.js';

/** Whose money is meant, and by which session it is reached; an adjustment has none. */
export interface WalletOwner {
  readonly operatorId: string;
  readonly mode: 'REAL' | 'DEMO';
  readonly sessionId: string | null;
}

/** Gives each session the wallet behind it, and measures every call to it. */
@Injectable()
export class OperatorWallets {
  private readonly logger = new Logger('OperatorWallet');

  constructor(
    private readonly tenancy: TenancyService,
    private readonly outbound: Outbound,
    private readonly demoBooks: DemoBooks,
    private readonly metrics: Metrics,
  ) {}

  /** The wallet of a session; one whose operator is not known here answers `unknown`, as one out of reach. */
  behind(owner: WalletOwner): OperatorWallet {
    const wallet = this.adapter(owner);
    return {
      book: (order) => this.measured(owner, order.kind, order.transactionId, () => wallet.book(order)),
      balance: (player) => this.measured(owner, 'BALANCE', undefined, () => wallet.balance(player)),
    };
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

  private async measured<T extends { kind: string; status?: string } | Unknown>(
    owner: WalletOwner,
    operation: string,
    transactionId: string | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    if (owner.mode === 'DEMO') return call();
    const startedMs = monotonicMs();
    this.metrics.operatorCallStarted();
    let outcome: string | undefined;
    try {
      const answer = await call();
      outcome = outcomeOf(answer);
      if (answer.kind === 'unknown') {
        const { cause, detail } = answer as Unknown;
        const { operatorId } = owner;
        this.logger.warn({
          msg: 'no answer of the wallet',
          operatorId,
          operation,
          transactionId,
          cause,
          detail,
        });
      }
      const { reason } = answer as { reason?: string };
      if (reason !== undefined) {
        this.logger.log({
          msg: "the wallet's own words",
          operatorId: owner.operatorId,
          transactionId,
          reason,
        });
      }
      return answer;
    } finally {
      this.metrics.operatorCallEnded(operation, outcome, monotonicMs() - startedMs);
      recordDuration('operator', startedMs);
    }
  }
}

function outcomeOf(answer: { kind: string; status?: string; cause?: string }): string {
  return answer.status ?? answer.cause ?? answer.kind;
}

const NOT_CONFIGURED: Unknown = {
  kind: 'unknown',
  cause: 'unavailable',
  detail: 'the operator is not known here',
};

const OUT_OF_REACH: OperatorWallet = {
  book: () => Promise.resolve(NOT_CONFIGURED),
  balance: () => Promise.resolve(NOT_CONFIGURED),
};
