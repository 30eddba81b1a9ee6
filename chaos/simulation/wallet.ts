import { Ledger } from '../../src/sandbox/ledger.js';
import type { MovementRequest, Player } from '../../src/operator-wallet/operator-wallet.js';

/** The operator's wallet: its ledger, and the first request with each id. */
export class SimulatedWallet {
  readonly ledger = new Ledger();
  readonly violations: string[] = [];
  private readonly requests = new Map<string, string>();

  /**
   * Books a movement.
   * @param decline whether the operator declines an id that it receives for the first time
   * @returns the JSON of its answer
   */
  book(request: MovementRequest, decline: boolean): object {
    this.compare(request);
    const { providerId, transactionId, kind, playerRef, currency } = request;
    let entry = this.ledger.find(providerId, transactionId);
    if (!entry) {
      const { amountMinor, originalTransactionId } = request;
      const known = { providerId, transactionId, kind, playerRef, currency, amountMinor };
      entry = this.ledger.judge(
        originalTransactionId === undefined ? known : { ...known, originalTransactionId },
        EPOCH,
      );
      if (decline) entry = { ...entry, status: 'DECLINED', reason: 'LIMIT_REACHED', movedMinor: 0 };
      this.ledger.record(entry);
    }
    const { status, reason } = entry;
    const balance = this.ledger.balance(playerRef, currency);
    return { transactionId, status, balance, reason };
  }

  /** @returns the JSON of its answer */
  balance({ playerRef, currency }: Player): object {
    return { playerRef, currency, balance: this.ledger.balance(playerRef, currency) };
  }

  /** Checks that every attempt repeats the first request identically. Contract, section 3. */
  private compare(request: MovementRequest): void {
    const text = JSON.stringify(request);
    const first = this.requests.get(request.transactionId) ?? text;
    this.requests.set(request.transactionId, first);
    if (first !== text) this.violations.push(`${request.transactionId} was sent with another content`);
  }
}

/** The ledger's times are not used. */
const EPOCH = new Date(0);
