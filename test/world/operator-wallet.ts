import { Ledger, type LedgerEntry, readOrder } from '../../src/sandbox/ledger.js';
import { type Behaviour, Counterpart, type Match, type ReceivedCall } from './counterpart.js';
import type { Reply } from './endings.js';

export interface WalletOptions {
  /** Initial balance of every player, in minor units. Default: 100000. */
  startBalance?: number;
  /** The time against which timestamps are checked. Default: the wall clock. */
  unixSeconds?: () => number;
}

export interface WalletMatch extends Match {
  readonly path?: '/transaction' | '/balance';
  readonly transactionId?: string;
  readonly originalTransactionId?: string;
  readonly kind?: string;
  readonly playerRef?: string;
}

export interface BookedEntry extends LedgerEntry {
  /** How often this id has moved money. */
  readonly movements: number;
  /** Whether a BET's money was given back. */
  readonly reversed: boolean;
}

/** The provider id under which `setBalance` books; no real provider has it. */
const TEST_ITSELF = 'the test itself';
const DEFAULT_CURRENCY = 'EUR';

/**
 * An operator's wallet as in section 4 of the contract, which records every call and misbehaves if a test sets that.
 */
export class OperatorWalletCounterpart extends Counterpart<Behaviour, WalletMatch> {
  private readonly ledger: Ledger;

  private constructor({ startBalance, unixSeconds }: WalletOptions) {
    super('/wallet', unixSeconds);
    this.ledger = new Ledger(startBalance);
  }

  static start(options: WalletOptions = {}): Promise<OperatorWalletCounterpart> {
    return new OperatorWalletCounterpart(options).listen();
  }

  /** Everything that was recorded, oldest first. */
  get entries(): LedgerEntry[] {
    return this.ledger.entries().filter((entry) => entry.providerId !== TEST_ITSELF);
  }

  /** Every entry that moved money, oldest first. */
  get movements(): LedgerEntry[] {
    return this.entries.filter((entry) => entry.movedMinor !== 0);
  }

  /** The transaction calls with this id. */
  calls(transactionId: string): ReceivedCall[] {
    return this.received.filter(
      ({ path, json }) => path === '/transaction' && json['transactionId'] === transactionId,
    );
  }

  /**
   * The ledger's entry with this id.
   * @param providerId needed only where two providers use one id
   */
  booked(transactionId: string, providerId?: string): BookedEntry | undefined {
    const isMeant = (entry: LedgerEntry) =>
      entry.transactionId === transactionId && (providerId ?? entry.providerId) === entry.providerId;
    const entry = this.ledger.entries().find(isMeant);
    if (!entry) return undefined;
    const reversed = entry.status === 'APPROVED' && this.ledger.isRolledBack(entry.providerId, transactionId);
    return { ...entry, movements: this.movements.filter(isMeant).length, reversed };
  }

  /** In minor units. */
  balanceOf(playerRef: string, currency = DEFAULT_CURRENCY): number {
    return this.ledger.balance(playerRef, currency);
  }

  /** @param balance in minor units */
  setBalance(playerRef: string, balance: number, currency = DEFAULT_CURRENCY): void {
    const transactionId = String(this.ledger.entries().length);
    const amountMinor = balance - this.balanceOf(playerRef, currency);
    const order = {
      providerId: TEST_ITSELF,
      transactionId,
      kind: 'ADJUSTMENT',
      playerRef,
      currency,
      amountMinor,
    } as const;
    this.ledger.record(this.ledger.judge(order, new Date()));
  }

  protected override carryOut({ method, path, json }: ReceivedCall, decline?: string): Reply {
    if (method === 'POST' && path === '/transaction') return this.book(json, decline);
    if (method === 'POST' && path === '/balance') {
      const { playerRef, currency } = json;
      const balance = this.ledger.balance(String(playerRef), String(currency));
      return { status: 200, body: { playerRef, currency, balance } };
    }
    return { status: 404, body: { error: 'not found' } };
  }

  private book(body: ReceivedCall['json'], reason?: string): Reply {
    const order = readOrder(body);
    if (typeof order === 'string') return { status: 400, body: { error: order } };
    let entry = this.ledger.find(order.providerId, order.transactionId);
    if (!entry) {
      entry = this.ledger.judge(order, new Date());
      if (reason !== undefined) entry = { ...entry, status: 'DECLINED', reason, movedMinor: 0 };
      this.ledger.record(entry);
    }
    const balance = this.ledger.balance(order.playerRef, order.currency);
    const { transactionId, status, operatorTransactionId } = entry;
    return {
      status: 200,
      body: { transactionId, status, balance, reason: entry.reason, operatorTransactionId },
    };
  }
}
