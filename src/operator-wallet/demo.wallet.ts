import type { DemoBooks } from './demo-books.js';
import type { BalanceAnswer, OperatorWallet, MovementRequest, WalletAnswer } from './operator-wallet.js';

/** The wallet of one DEMO session. It calls no operator. Contract, section 3, "DEMO". */
export class DemoWallet implements OperatorWallet {
  constructor(
    private readonly books: DemoBooks,
    private readonly sessionId: string,
  ) {}

  book(request: MovementRequest): Promise<WalletAnswer> {
    return this.books.book(this.sessionId, request);
  }

  balance(): Promise<BalanceAnswer> {
    return this.books.balance(this.sessionId);
  }
}
