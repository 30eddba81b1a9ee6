import { Ledger } from '../../src/sandbox/ledger.js';
import type { Booked, Order } from '../../src/operator-wallet/operator-wallet.js';

/** The operator's wallet: its ledger, and the content of each id. */
export class SimulatedWallet {
  readonly ledger = new Ledger();
  readonly violations: string[] = [];
  private readonly orders = new Map<string, string>();

  /** @param decline whether the operator refuses an id that it sees for the first time */
  book(order: Order, decline: boolean): Booked {
    this.compare(order);
    const { providerId, transactionId, kind, playerRef, currency } = order;
    let entry = this.ledger.find(providerId, transactionId);
    if (!entry) {
      const { amountMinor, originalTransactionId } = order;
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
    return { kind: 'decided', status, balance, ...(reason !== undefined && { reason }) };
  }

  /** "The operator's request is fixed at the first claim, and repeated identically." */
  private compare(order: Order): void {
    const text = JSON.stringify(order);
    const first = this.orders.get(order.transactionId) ?? text;
    this.orders.set(order.transactionId, first);
    if (first !== text) this.violations.push(`${order.transactionId} was sent with another content`);
  }
}

/** The ledger's times are not used. */
const EPOCH = new Date(0);
