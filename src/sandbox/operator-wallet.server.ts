import { join } from 'node:path';
import { Clock } from '../runtime/clock.js';
import { type FaultName, WALLET_OPERATIONS } from './faults/faults.js';
import { type Fields, isCurrency, isText } from './fields.js';
import { Journal } from './journal.js';
import { Ledger, type LedgerEntry, readOrder } from './ledger.js';
import { type Answer, badRequest, type CounterpartOptions, SignedServer } from './signed.server.js';

/** The sandbox operator's wallet as an HTTP server. Its ledger has the players' play money. Contract, section 4. */
export class OperatorWalletServer {
  private readonly clock = new Clock();
  private server: SignedServer;

  private constructor(
    private readonly ledger: Ledger,
    private readonly journal: Journal<LedgerEntry>,
  ) {}

  /** Loads the ledger from `wallet.jsonl` and listens. Until `trust` is called, every signed call gets a 401. */
  static async start(options: CounterpartOptions): Promise<OperatorWalletServer> {
    const ledger = new Ledger();
    const file = join(options.folder, 'wallet.jsonl');
    const journal = await Journal.open<LedgerEntry>(file, (entry) => ledger.record(entry));
    const wallet = new OperatorWalletServer(ledger, journal);
    wallet.server = await SignedServer.start({
      ...options,
      journal,
      basePath: '/wallet',
      operations: WALLET_OPERATIONS,
      routes: {
        '/transaction': {
          operation: ({ kind }) => String(kind),
          answer: (body, fault) => wallet.book(body, fault),
        },
        '/balance': { operation: () => 'balance', answer: (body) => wallet.balance(body) },
      },
    });
    return wallet;
  }

  get baseUrl(): string {
    return this.server.baseUrl;
  }

  trust(secret: string): void {
    this.server.trust(secret);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private book(body: Fields, fault: FaultName | undefined): Answer {
    const order = readOrder(body);
    if (typeof order === 'string') return badRequest(order);
    const known = this.ledger.find(order.providerId, order.transactionId);
    const judged = known ?? this.ledger.judge(order, this.clock.now());
    const entry = !known && fault === 'decline' ? declinedOnRequest(judged) : judged;
    if (!known) {
      this.journal.append(entry);
      this.ledger.record(entry);
    }
    const { transactionId, status, reason, operatorTransactionId, playerRef, currency } = entry;
    const balance = this.ledger.balance(playerRef, currency) + (fault === 'wrong-balance' ? 1 : 0);
    return { status: 200, body: { transactionId, status, balance, reason, operatorTransactionId } };
  }

  private balance({ playerRef, currency }: Fields): Answer {
    if (!isText(playerRef) || !isCurrency(currency)) return badRequest('playerRef and currency are needed');
    if (!this.ledger.hasAccount(playerRef))
      return { status: 404, body: { error: 'there is no such player' } };
    return { status: 200, body: { playerRef, currency, balance: this.ledger.balance(playerRef, currency) } };
  }
}

function declinedOnRequest(entry: LedgerEntry): LedgerEntry {
  return { ...entry, status: 'DECLINED', reason: 'DECLINED_ON_REQUEST', movedMinor: 0 };
}
