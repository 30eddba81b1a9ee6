import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { bad, type Body, BrokenServer, ok, parsed, type Reply } from '../broken-server.js';

export interface Order extends Body {
  transactionId: string;
  providerId: string;
  kind: string;
  playerRef: string;
  currency: string;
  amountMinor: number;
  roundId?: string;
  originalTransactionId?: string;
}

export interface Verdict {
  status: 'APPROVED' | 'DECLINED';
  reason?: string;
  /** The change of the balance in minor units, signed. */
  movedMinor: number;
}

export interface Booking extends Verdict {
  order: Order;
  reference: string;
}

/** How a wallet differs from the correct one: the steps that it replaces. */
export type Change = Partial<ReferenceWallet> & ThisType<ReferenceWallet>;

const KINDS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'];
const START_MINOR = 5_000;

export const approved = (movedMinor: number): Verdict => ({ status: 'APPROVED', movedMinor });
export const declined = (reason: string): Verdict => ({ status: 'DECLINED', reason, movedMinor: 0 });

/**
 * A correct operator's wallet over real HTTP. A call is a sequence of small steps, each of which is a method, so that a
 * bug is a replacement of one or two of them.
 */
export class ReferenceWallet {
  readonly tenantId = 'bigwin';
  readonly secret = BrokenServer.secret;
  /** Balances in minor units. */
  accounts = new Map<string, number>();
  bookings = new Map<string, Booking>();
  /** The keys of transactions that an approved ROLLBACK named. */
  rolledBack = new Set<string>();
  private readonly locks = new Map<string, Promise<void>>();
  private server: BrokenServer | undefined;
  private control: Server | undefined;

  /** @param faults mistakes of the HTTP server or of the verification of signatures */
  static async start(change: Change = {}, faults: readonly string[] = []): Promise<ReferenceWallet> {
    const wallet = Object.assign(new ReferenceWallet(), change);
    for (const playerRef of ['player-1', 'player-2'])
      for (const currency of ['EUR', 'USD'])
        wallet.accounts.set(wallet.accountOf(playerRef, currency), START_MINOR);
    const { tenantId } = wallet;
    const paths = ['/transaction', '/balance'];
    wallet.server = await BrokenServer.start(faults, { tenantId, paths }, (path, raw, request) =>
      wallet.serve(path, raw, request),
    );
    wallet.control = createServer((_, response) => {
      wallet.restart();
      response.end();
    }).listen(0, '127.0.0.1');
    await once(wallet.control, 'listening');
    return wallet;
  }

  get url(): string {
    return this.server?.url ?? '';
  }

  /** A command line that restarts the wallet. */
  get restartCommand(): string {
    const { port } = this.control?.address() as AddressInfo;
    return `'${process.execPath}' -e 'fetch("http://127.0.0.1:${port}")'`;
  }

  async stop(): Promise<void> {
    this.control?.closeAllConnections();
    this.control?.close();
    await this.server?.stop();
  }

  /** Everything is durable: a restart changes nothing. */
  restart(): void {
    return;
  }

  async serve(path: string, raw: string, request: IncomingMessage): Promise<Reply> {
    const body = this.bodyOf(raw);
    if (!body) return bad('no JSON object');
    if (path === '/balance') return this.answerBalance(body, request);
    const defect = this.defectOf(body);
    if (defect !== undefined) return bad(defect);
    const order = this.orderOf(body);
    return this.locked(this.locksOf(order), () => this.book(order, request));
  }

  bodyOf(raw: string): Body | undefined {
    const body = parsed(raw);
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : undefined;
  }

  defectOf({
    transactionId,
    providerId,
    kind,
    playerRef,
    currency,
    amountMinor,
    ...rest
  }: Body): string | undefined {
    for (const text of [transactionId, providerId, playerRef, currency])
      if (typeof text !== 'string') return 'a field is missing';
    if (!KINDS.includes(String(kind))) return 'kind';
    if (!Number.isSafeInteger(amountMinor)) return 'amountMinor must be an integer';
    if (Number(amountMinor) < 0 && kind !== 'ADJUSTMENT') return 'amountMinor must not be negative';
    if (kind === 'ROLLBACK' && typeof rest['originalTransactionId'] !== 'string')
      return 'originalTransactionId';
    return undefined;
  }

  orderOf(body: Body): Order {
    return body as Order;
  }

  /** What concurrent calls must not touch at the same time. */
  locksOf({ playerRef, currency, providerId, transactionId, originalTransactionId }: Order): string[] {
    return [
      this.accountOf(playerRef, currency),
      this.keyOf(providerId, transactionId),
      this.keyOf(providerId, originalTransactionId ?? transactionId),
    ];
  }

  async locked<T>(names: readonly string[], act: () => Promise<T>): Promise<T> {
    const releases: (() => void)[] = [];
    // In one order for all calls, so that no two of them wait for each other.
    for (const name of [...new Set(names)].sort()) releases.push(await this.lock(name));
    try {
      return await act();
    } finally {
      for (const release of releases) release();
    }
  }

  async book(order: Order, request: IncomingMessage): Promise<Reply> {
    const known = await this.find(order, request);
    if (known) return this.answer(order, known, true, request);
    const verdict = await this.judge(order, request);
    const booking = await this.record(order, verdict, request);
    return this.answer(order, booking, false, request);
  }

  async find(order: Order, _request: IncomingMessage): Promise<Booking | undefined> {
    const known = this.bookings.get(this.keyOfOrder(order));
    await this.pause();
    return known;
  }

  async judge(order: Order, _request: IncomingMessage): Promise<Verdict> {
    await this.pause();
    if (order.kind === 'ROLLBACK') return this.judgeRollback(order);
    if (this.isTombstone(order)) return declined('TRANSACTION_ROLLED_BACK');
    if (!this.accounts.has(this.accountOfOrder(order))) return declined('PLAYER_UNKNOWN');
    if (order.kind === 'BET') return this.judgeBet(order);
    return order.kind === 'WIN' ? this.judgeWin(order) : this.judgeAdjustment(order);
  }

  judgeBet(order: Order): Verdict {
    const { amountMinor } = order;
    return this.fundsOf(order) < amountMinor ? declined('INSUFFICIENT_FUNDS') : approved(-amountMinor);
  }

  judgeWin(order: Order): Verdict {
    return this.credit(order);
  }

  judgeAdjustment(order: Order): Verdict {
    return this.credit(order);
  }

  credit(order: Order): Verdict {
    const { amountMinor } = order;
    const isHeld = Number.isSafeInteger(this.load(this.accountOfOrder(order)) + amountMinor);
    return isHeld ? approved(amountMinor) : declined('LIMIT_REACHED');
  }

  judgeRollback(order: Order): Verdict {
    const target = this.targetOf(order);
    if (!target) return this.judgeRollbackOfNothing(order);
    const { playerRef, currency, kind } = target.order;
    if (kind !== 'BET' || playerRef !== order.playerRef || currency !== order.currency)
      return declined('NOT_ROLLBACKABLE');
    return approved(this.isReversed(order) ? 0 : this.returned(order, target));
  }

  judgeRollbackOfNothing(_order: Order): Verdict {
    return approved(0);
  }

  targetOf({ providerId, originalTransactionId = '' }: Order): Booking | undefined {
    return this.bookings.get(this.keyOf(providerId, originalTransactionId));
  }

  isReversed({ providerId, originalTransactionId = '' }: Order): boolean {
    return this.rolledBack.has(this.keyOf(providerId, originalTransactionId));
  }

  returned(_rollback: Order, { movedMinor }: Booking): number {
    return -movedMinor;
  }

  isTombstone(order: Order): boolean {
    return this.rolledBack.has(this.keyOfOrder(order));
  }

  /** Moves the money and remembers the transaction. */
  async record(order: Order, verdict: Verdict, _request: IncomingMessage): Promise<Booking> {
    const account = this.accountOfOrder(order);
    const before = this.load(account);
    const booking = { ...verdict, order, reference: this.newReference() };
    await this.pause();
    if (this.accounts.has(account)) this.store(account, before, verdict.movedMinor);
    this.remember(booking);
    if (order.kind === 'ROLLBACK' && verdict.status === 'APPROVED') this.rememberRollback(order);
    return booking;
  }

  remember(booking: Booking): void {
    this.bookings.set(this.keyOfOrder(booking.order), booking);
  }

  rememberRollback({ providerId, originalTransactionId = '' }: Order): void {
    this.rolledBack.add(this.keyOf(providerId, originalTransactionId));
  }

  fundsOf(order: Order): number {
    return this.load(this.accountOfOrder(order));
  }

  load(account: string): number {
    return this.accounts.get(account) ?? 0;
  }

  store(account: string, beforeMinor: number, movedMinor: number): void {
    this.accounts.set(account, beforeMinor + movedMinor);
  }

  answer(
    order: Order,
    booking: Booking,
    isRepeated: boolean,
    _request: IncomingMessage,
  ): Reply | Promise<Reply> {
    return ok({
      transactionId: this.echoOf(order),
      status: booking.status,
      balance: this.shownBalance(order, booking, isRepeated),
      reason: booking.reason,
      operatorTransactionId: this.referenceOf(booking, isRepeated),
    });
  }

  echoOf({ transactionId }: Order): unknown {
    return transactionId;
  }

  shownBalance(order: Order, _booking: Booking, _isRepeated: boolean): unknown {
    return this.load(this.accountOfOrder(order));
  }

  referenceOf({ reference }: Booking, _isRepeated: boolean): unknown {
    return reference;
  }

  newReference(): string {
    return `booking-${this.bookings.size + 1}`;
  }

  async answerBalance(body: Body, request: IncomingMessage): Promise<Reply> {
    const { playerRef, currency } = body;
    const account = this.accountOf(String(playerRef), String(currency));
    if (!this.accounts.has(account)) return this.answerNoAccount(body);
    await this.pause();
    return ok({ playerRef, currency, balance: this.readBalance(account, request) });
  }

  answerNoAccount(_body: Body): Reply {
    return { status: 404, body: { error: 'no such account' } };
  }

  readBalance(account: string, _request: IncomingMessage): unknown {
    return this.load(account);
  }

  accountOfOrder({ playerRef, currency }: Order): string {
    return this.accountOf(playerRef, currency);
  }

  accountOf(playerRef: string, currency: string): string {
    return JSON.stringify(['account', playerRef, currency]);
  }

  keyOfOrder({ providerId, transactionId }: Order): string {
    return this.keyOf(providerId, transactionId);
  }

  keyOf(providerId: string, transactionId: string): string {
    return JSON.stringify([providerId, transactionId]);
  }

  /** Where a wallet waits for its database. The correct wallet is as fast as memory. */
  pause(): Promise<void> {
    return Promise.resolve();
  }

  private async lock(name: string): Promise<() => void> {
    const previous = this.locks.get(name) ?? Promise.resolve();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    this.locks.set(
      name,
      previous.then(() => held),
    );
    await previous;
    return release;
  }
}

/** The correct step, for a change that needs it. */
export const correct = ReferenceWallet.prototype;
