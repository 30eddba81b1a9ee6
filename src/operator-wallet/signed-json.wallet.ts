import type { CallOutcome, Interpretation } from '../outbound/answer.js';
import type { Outbound } from '../outbound/outbound.service.js';
import type {
  BalanceAnswer,
  OperatorWallet,
  MovementRequest,
  Player,
  WalletAnswer,
} from './operator-wallet.js';
import { balanceIn, decisionIn } from './wallet-answers.js';

/** The current address, signing secret and time-out of an operator's wallet. */
export interface WalletAddress {
  readonly operatorId: string;
  readonly walletBaseUrl: string;
  readonly secret: string;
  readonly timeoutMs: number;
}

/** Calls an operator's wallet with the contract's JSON, signed with the operator's secret. Contract, section 4. */
export class SignedJsonWallet implements OperatorWallet {
  constructor(
    private readonly outbound: Outbound,
    private readonly address: WalletAddress,
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
  ): Promise<A> {
    const { operatorId, walletBaseUrl, secret, timeoutMs } = this.address;
    const call = { tenantId: operatorId, secret, baseUrl: walletBaseUrl, route, body, timeoutMs };
    return this.outbound.post(call, interpret);
  }
}
