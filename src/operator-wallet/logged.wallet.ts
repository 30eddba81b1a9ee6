import { Logger } from '@nestjs/common';
import type {
  BalanceAnswer,
  CallKind,
  MovementRequest,
  OperatorWallet,
  Player,
  UnknownOutcome,
  WalletAnswer,
} from './operator-wallet.js';

/** Logs the missing and invalid answers of an operator's wallet, and the reasons that the wallet gives. */
export class LoggedWallet implements OperatorWallet {
  private readonly logger = new Logger('OperatorWallet');

  constructor(
    private readonly wallet: OperatorWallet,
    private readonly operatorId: string,
  ) {}

  async book(request: MovementRequest): Promise<WalletAnswer> {
    const answer = await this.wallet.book(request);
    const { operatorId } = this;
    const { kind, transactionId } = request;
    if (answer.kind === 'unknown') this.warn(answer, kind, transactionId);
    else if (answer.reason !== undefined) {
      const { reason } = answer;
      this.logger.log({ msg: 'reason given by the wallet', operatorId, transactionId, reason });
    }
    return answer;
  }

  async balance(player: Player): Promise<BalanceAnswer> {
    const answer = await this.wallet.balance(player);
    if (answer.kind === 'unknown') this.warn(answer, 'BALANCE');
    return answer;
  }

  private warn(
    { cause, detail, systemMessage, misdirected, notSent }: UnknownOutcome,
    operation: CallKind,
    transactionId?: string,
  ): void {
    this.logger.warn({
      msg: misdirected
        ? 'the answer names another call, or none; its connection was closed'
        : 'no valid answer from the wallet',
      operatorId: this.operatorId,
      operation,
      transactionId,
      cause,
      detail,
      ...(systemMessage && { systemMessage }),
      ...(notSent && { notSent }),
    });
  }
}
