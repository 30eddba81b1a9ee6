import { setTimeout as delay } from 'node:timers/promises';
import { Prerequisite, Unmet } from '../outcome.js';
import type { Reply } from '../../reply.js';
import { type Deviation, type Endpoint, SignedCalls } from '../signed-calls.js';
import { balanceOf, type Decision, decisionOf } from './answers.js';

export const WALLET_ROUTES = { transaction: '/transaction', balance: '/balance' } as const;
/** Pause before a call is repeated that the wallet has not decided, in milliseconds. */
const RETRY_MS = 50;

export interface WalletUnderTest extends Endpoint {
  /** A player with an account. The cases move this player's money. */
  playerRef: string;
  /** Another player with an account, if there is one. */
  otherPlayerRef: string | undefined;
  /** A player without an account, if there is one. */
  unknownPlayerRef: string | undefined;
  currency: string;
  /** Another currency in which the player has an account, if there is one. */
  otherCurrency: string | undefined;
  /** The provider in whose name transactions are sent. */
  providerId: string;
  gameId: string;
  /** The stake of a BET in minor units, at least 1. */
  stakeMinor: number;
  /** Number of calls whose latency is measured. It is rounded up to a multiple of 5. */
  latencyCalls: number;
  /** Time from the first transactions until they are repeated at the end of the run, in milliseconds. */
  patienceMs: number;
  /** How long a connection is left idle that the wallet must keep open, in milliseconds. */
  idleMs: number;
  /** A command line that restarts the wallet, if there is one. */
  restartCommand: string | undefined;
}

/** An account at the wallet. By default it is the first player's, in the first currency. */
export interface Account {
  playerRef: string;
  currency: string;
}

/** The body of a transaction. Contract, section 4. */
export interface WalletOrder extends Record<string, unknown> {
  transactionId: string;
  providerId: string;
  kind: string;
  playerRef: string;
  currency: string;
  amountMinor: number;
}

/** Calls an operator's wallet as the platform does, or with a deviation. */
export class WalletCaller {
  readonly calls: SignedCalls;

  /** @param nowMs Unix time in milliseconds */
  constructor(
    readonly wallet: WalletUnderTest,
    nowMs: () => number,
  ) {
    this.calls = new SignedCalls(wallet, nowMs);
  }

  get answered(): number {
    return this.calls.answered;
  }

  get stakeMinor(): number {
    return this.wallet.stakeMinor;
  }

  /** A new BET of one stake in a new round. */
  bet(fields: Partial<WalletOrder> = {}): WalletOrder {
    return this.order('BET', { amountMinor: this.stakeMinor, ...fields });
  }

  win(fields: Partial<WalletOrder> = {}): WalletOrder {
    return this.order('WIN', { amountMinor: this.stakeMinor, ...fields });
  }

  /** A ROLLBACK of a transaction. The transaction need not have been sent. */
  rollback(target: WalletOrder, fields: Partial<WalletOrder> = {}): WalletOrder {
    const { playerRef, currency, amountMinor, providerId, gameId, roundId } = target;
    const named = { originalTransactionId: target.transactionId, gameId, roundId };
    return this.order('ROLLBACK', { playerRef, currency, amountMinor, providerId, ...named, ...fields });
  }

  /** Another provider, whose transactions have ids of their own. */
  get otherProviderId(): string {
    return `${this.wallet.providerId}-other`.slice(-64);
  }

  get otherGameId(): string {
    return `${this.wallet.gameId}-other`.slice(-128);
  }

  /** @param amountMinor may be negative */
  adjustment(amountMinor: number, fields: Partial<WalletOrder> = {}): WalletOrder {
    const { playerRef, currency } = this.wallet;
    const transactionId = this.calls.fresh('adjustment');
    return {
      transactionId,
      providerId: 'platform',
      kind: 'ADJUSTMENT',
      playerRef,
      currency,
      amountMinor,
      ...fields,
    };
  }

  /** @throws Unmet if there is no answer in time */
  send(order: WalletOrder | string, deviation?: Deviation): Promise<Reply> {
    return this.calls.post(WALLET_ROUTES.transaction, order, deviation);
  }

  /**
   * Sends a transaction that the wallet must decide.
   * @throws Unmet for anything but a valid 200 that names the transaction
   */
  async decide(order: WalletOrder, deviation?: Deviation): Promise<Decision> {
    return decisionOf(await this.send(order, deviation), order);
  }

  /**
   * Sends a transaction that the wallet must decide, again and again while it answers that it does not know the outcome
   * yet.
   * @throws Unmet unless there is a valid 200 that names the transaction within the time-out
   */
  async decideEventually(order: WalletOrder): Promise<Decision> {
    const until = this.calls.nowMs() + this.wallet.timeoutMs;
    for (;;) {
      const reply = await this.send(order);
      if (reply.status === 200 || this.calls.nowMs() > until) return decisionOf(reply, order);
      await delay(RETRY_MS);
    }
  }

  /**
   * The decision in a reply to a call among concurrent ones. The wallet may answer such a call that it does not know the
   * outcome yet, so that the transaction is sent again.
   * @throws Unmet unless there is a valid 200 that names the transaction within the time-out
   */
  decisionAfter(reply: Reply, order: WalletOrder): Decision | Promise<Decision> {
    return reply.status === 200 ? decisionOf(reply, order) : this.decideEventually(order);
  }

  /**
   * Sends transactions that the wallet must decide, all at once. Waits for every answer before it judges the first, and
   * sends again what is not decided.
   * @throws Unmet unless there is a valid 200 for each that names the transaction
   */
  async decideAtOnce(orders: readonly WalletOrder[]): Promise<Decision[]> {
    const calls = orders.map(async (order) => ({ order, reply: await this.send(order) }));
    const decisions: Decision[] = [];
    for (const { order, reply } of await Promise.all(calls))
      decisions.push(await this.decisionAfter(reply, order));
    return decisions;
  }

  /** @throws Unmet if there is no answer in time */
  askBalance(fields: Record<string, unknown> = {}, deviation?: Deviation): Promise<Reply> {
    return this.calls.post(WALLET_ROUTES.balance, this.balanceBody(fields), deviation);
  }

  balanceBody(fields: Record<string, unknown> = {}): Record<string, unknown> {
    const { playerRef, currency } = this.wallet;
    return { playerRef, currency, ...fields };
  }

  /**
   * Asks for a balance that the wallet must return, in minor units.
   * @throws Unmet for anything but a valid 200 that names the player and the currency
   */
  async readBalance(fields: Record<string, unknown> = {}): Promise<number> {
    return balanceOf(await this.askBalance(fields), this.balanceBody(fields));
  }

  /**
   * Asks for the balances of these accounts, all at once. Waits for every answer before it judges the first.
   * @throws Unmet for anything but a valid 200 that names the player and the currency
   */
  async readBalancesAtOnce(accounts: readonly Partial<Account>[]): Promise<number[]> {
    const bodies = accounts.map((account) => this.balanceBody({ ...account }));
    const calls = bodies.map(async (body) => ({ body, reply: await this.askBalance(body) }));
    return (await Promise.all(calls)).map(({ body, reply }) => balanceOf(reply, body));
  }

  /**
   * The balance of an account in minor units.
   * @throws Prerequisite if the wallet does not return it
   */
  async balance(account: Partial<Account> = {}): Promise<number> {
    try {
      return await this.readBalance({ ...account });
    } catch (error) {
      throw error instanceof Unmet
        ? new Prerequisite(`a balance first: ${error.expected}`, error.received)
        : error;
    }
  }

  private order(kind: string, fields: Partial<WalletOrder> & { amountMinor: number }): WalletOrder {
    const { playerRef, currency, providerId, gameId } = this.wallet;
    const [transactionId, roundId] = [this.calls.fresh(kind.toLowerCase()), this.calls.fresh('round')];
    return { transactionId, providerId, kind, playerRef, gameId, currency, roundId, ...fields };
  }
}
