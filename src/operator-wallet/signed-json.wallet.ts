import type { CallOutcome, Interpretation } from '../outbound/answer.js';
import type { Outbound } from '../outbound/outbound.service.js';
import type { TenancyService } from '../tenancy/tenancy.service.js';
import type {
  BalanceAnswer,
  MovementRequest,
  OperatorWallet,
  Player,
  UnknownOutcome,
  WalletAnswer,
} from './operator-wallet.js';
import { balanceIn, decisionIn } from './wallet-answers.js';

const NOT_CONFIGURED: UnknownOutcome = {
  kind: 'unknown',
  cause: 'unavailable',
  notSent: true,
  detail: 'the operator is unknown to this instance',
};

/**
 * Calls an operator's wallet with the contract's JSON, signed with the operator's secret. Contract, section 4. Each call
 * uses the current address, secret and time-out.
 */
export class SignedJsonWallet implements OperatorWallet {
  constructor(
    private readonly operatorId: string,
    private readonly tenancy: TenancyService,
    private readonly outbound: Outbound,
  ) {}

  book(request: MovementRequest): Promise<WalletAnswer> {
    return this.post('/transaction', request, (outcome) => decisionIn(outcome, request));
  }

  balance({ playerRef, currency }: Player): Promise<BalanceAnswer> {
    const player = { playerRef, currency };
    return this.post('/balance', player, (outcome) => balanceIn(outcome, player));
  }

  private post<A extends Interpretation>(
    route: string,
    body: object,
    interpret: (outcome: CallOutcome) => A,
  ): Promise<A | UnknownOutcome> {
    const { operatorId, tenancy } = this;
    const operator = tenancy.operator(operatorId);
    if (!operator) return Promise.resolve(NOT_CONFIGURED);
    const secret = tenancy.signingSecret(operatorId);
    const timeoutMs = tenancy.walletTimeoutMs(operator);
    const call = { tenantId: operatorId, secret, baseUrl: operator.walletBaseUrl, route, body, timeoutMs };
    return this.outbound.post(call, interpret);
  }
}
