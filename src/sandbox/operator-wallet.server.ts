import { DEFAULT_TOLERANCE_SECONDS, MemoryNonceStore, verifyPlatformSignature } from '@croupier/provider-sdk';
import { join } from 'node:path';
import { parseJsonObject } from '../api/validation/json.js';
import { Clock } from '../runtime/clock.js';
import {
  type Call,
  type ChooseFault,
  type CounterpartOptions,
  CounterpartServer,
  INVALID_SIGNATURE,
  MAX_NONCES,
  NOT_AN_OBJECT,
} from './counterpart.server.js';
import { type Answer, jsonAnswer } from './faults/delivery.js';
import { type FaultName, WALLET_OPERATIONS } from './faults/faults.js';
import { type Fields, isCurrency, isText } from './fields.js';
import { Journal } from './journal.js';
import { Ledger, type LedgerEntry, type Order, readOrder } from './ledger.js';
import { statementRoute } from './statement.js';

/** Faults that change how a transaction is booked, and have no effect once it is booked. */
const OF_BOOKING: readonly FaultName[] = ['decline', 'book-late'];
const BASE_PATH = '/wallet';
const BALANCE_PATH = `${BASE_PATH}/balance`;
/**
 * How long a nonce is remembered, in seconds. A timestamp may be ahead of or behind the clock by up to the
 * tolerance, inclusive, in whole seconds. If it is ahead by the full tolerance, it stays valid for twice the tolerance
 * plus one second.
 */
const NONCE_MEMORY_SECONDS = 2 * DEFAULT_TOLERANCE_SECONDS + 1;

/** The sandbox operator's wallet. Its ledger has the players' play money. Contract, section 4. */
export class OperatorWalletServer {
  private readonly clock = new Clock();
  private readonly nonces = new MemoryNonceStore(MAX_NONCES);

  private constructor(
    private readonly tenantId: string,
    private readonly ledger: Ledger,
    private readonly journal: Journal<LedgerEntry>,
  ) {}

  /** Loads the ledger from `wallet.jsonl` and listens. */
  static async start(options: CounterpartOptions): Promise<CounterpartServer> {
    const ledger = new Ledger();
    const file = join(options.folder, 'wallet.jsonl');
    const journal = await Journal.open<LedgerEntry>(file, (entry) => ledger.record(entry));
    const wallet = new OperatorWalletServer(options.tenantId, ledger, journal);
    return CounterpartServer.start({
      ...options,
      journal,
      operations: WALLET_OPERATIONS,
      basePath: BASE_PATH,
      routes: [`${BASE_PATH}/transaction`, BALANCE_PATH],
      openRoutes: [statementRoute(ledger)],
      answer: (call, secret, chooseFault) => wallet.answer(call, secret, chooseFault),
    });
  }

  private async answer(call: Call, secret: string, chooseFault: ChooseFault): Promise<Answer | undefined> {
    if (!this.isAuthentic(call, secret)) return INVALID_SIGNATURE;
    const body = parseJsonObject(call.body);
    if (!body) return badRequest(NOT_AN_OBJECT);
    if (call.path.startsWith(BALANCE_PATH)) {
      return chooseFault('balance', body) === 'lose-the-call' ? undefined : this.balance(body);
    }
    const order = readOrder(body);
    if (typeof order === 'string') return badRequest(order);
    const isNew = this.ledger.find(order.providerId, order.transactionId) === undefined;
    const fault = chooseFault(order.kind, body, (name) => isNew || !OF_BOOKING.includes(name));
    if (fault === 'lose-the-call') return undefined;
    if (fault === 'book-late') await call.abandoned();
    return this.book(order, fault);
  }

  /** Whether the call is signed with the secret, and its nonce is new. */
  private isAuthentic(call: Call, secret: string): boolean {
    const { tenantId } = this;
    const now = this.clock.unixSeconds();
    const nonce = String(call.headers['x-nonce']);
    return (
      verifyPlatformSignature({ ...call, secret, tenantId, now }).ok &&
      this.nonces.claim(nonce, now + NONCE_MEMORY_SECONDS, now)
    );
  }

  private book(order: Order, fault: FaultName | undefined): Answer {
    const known = this.ledger.find(order.providerId, order.transactionId);
    const judged = known ?? this.ledger.judge(order, this.clock.now());
    const entry = !known && fault === 'decline' ? declinedOnRequest(judged) : judged;
    if (!known) {
      this.journal.append(entry);
      this.ledger.record(entry);
    }
    const { transactionId, status, reason, operatorTransactionId, playerRef, currency } = entry;
    const balance = this.ledger.balance(playerRef, currency) + (fault === 'wrong-balance' ? 1 : 0);
    return jsonAnswer(200, { transactionId, status, balance, reason, operatorTransactionId });
  }

  private balance({ playerRef, currency }: Fields): Answer {
    if (!isText(playerRef) || !isCurrency(currency)) return badRequest('playerRef and currency are needed');
    if (!this.ledger.hasAccount(playerRef)) return jsonAnswer(404, { error: 'there is no such player' });
    return jsonAnswer(200, { playerRef, currency, balance: this.ledger.balance(playerRef, currency) });
  }
}

function badRequest(error: string): Answer {
  return jsonAnswer(400, { error });
}

function declinedOnRequest(entry: LedgerEntry): LedgerEntry {
  return { ...entry, status: 'DECLINED', reason: 'DECLINED_ON_REQUEST', movedMinor: 0 };
}
