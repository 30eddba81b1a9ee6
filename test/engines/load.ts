import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { BuiltService, SignedReply } from '../process/built-service.js';

/** A client's pause before it sends a request again, in milliseconds. */
const BACK_OFF_MS = 25;
/** Initial balance of a player of the recording wallet, in minor units. */
const START = 100_000;

type Body = { readonly transactionId: string; readonly kind: string; readonly amountMinor?: number } & Record<
  string,
  unknown
>;

interface Booked {
  readonly body: Body;
  readonly answer: SignedReply;
}

/**
 * Providers that play concurrent rounds, and send each request again until they know its outcome. All answers are
 * recorded.
 */
export class Load {
  /** Answers that are not final, by status, code and next action. */
  readonly retryable = new Map<string, number>();
  private readonly booked: Booked[] = [];
  private readonly players = new Map<string, number>();
  private readonly workers: Promise<void>[] = [];
  private readonly approvedAtMs: number[] = [];
  private readonly name = `load-${randomUUID().slice(0, 8)}-`;
  private stopping = false;

  /** @param services instances on one database, taken in turns */
  constructor(
    private readonly services: readonly BuiltService[],
    workers = 6,
  ) {
    for (let index = 0; index < workers; index += 1) this.workers.push(this.work(index));
  }

  /** How many transactions have been approved. */
  get approved(): number {
    return this.booked.length;
  }

  /** The longest time without an approved transaction, in milliseconds. */
  get longestGapMs(): number {
    const gaps = this.approvedAtMs.slice(1).map((atMs, index) => atMs - this.approvedAtMs[index]!);
    return Math.round(Math.max(0, ...gaps));
  }

  /** Waits until this number of further transactions has been approved. */
  async more(count: number): Promise<void> {
    const wanted = this.approved + count;
    while (this.approved < wanted) await pause(5);
  }

  /** Waits for the end of each round. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.workers);
  }

  /**
   * Compares every answer with the wallet's ledger and with a replay: nothing is lost, duplicated or changed.
   * @param service the instance that replays
   */
  async check(service = this.services[0]!): Promise<void> {
    // HTTP permits a connection to be closed while the next request is sent on it.
    const unanswered = ['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'];
    const allowed = ['500 retry-same-request', '409 wait-then-retry', ...unanswered];
    expect([...this.retryable.keys()].filter((answer) => !allowed.includes(answer))).toEqual([]);
    const reversed = new Set(this.booked.map(({ body }) => body['originalTransactionId']));
    for (const { body, answer } of this.booked) {
      expect(service.wallet.booked(body.transactionId)?.movements).toBe(1);
      const replay = await service.submit(body);
      const expected = reversed.has(body.transactionId)
        ? { status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' }
        : answer.json;
      expect([replay.status, replay.json]).toMatchObject([200, expected]);
    }
    for (const [playerRef, balance] of this.players)
      expect(service.wallet.balanceOf(playerRef)).toBe(balance);
    const ids = new Set(this.booked.map(({ body }) => body.transactionId));
    const unknown = service.wallet.movements.filter(({ transactionId }) => !ids.has(transactionId));
    expect(unknown.filter(({ transactionId }) => transactionId.startsWith(this.name))).toEqual([]);
  }

  private newId(): string {
    return this.name + randomUUID();
  }

  private async work(index: number): Promise<void> {
    for (let turn = index; !this.stopping; turn += 1) await this.round(turn);
  }

  /** A BET with its WIN, or every third time with its ROLLBACK. */
  private async round(turn: number): Promise<void> {
    const player = { playerRef: `player-${randomUUID()}`, gameId: 'reels', currency: 'EUR' };
    const launched = await this.until(
      201,
      (service) => service.signed('lucky', '/v1/operator/sessions', player),
      turn,
    );
    const session = { ...player, sessionToken: launched.json['sessionToken'], roundId: randomUUID() };
    const bet = { ...session, transactionId: this.newId(), kind: 'BET', amountMinor: 100 };
    await this.book(bet, turn);
    const transactionId = this.newId();
    const rollback = {
      ...session,
      transactionId,
      kind: 'ROLLBACK',
      originalTransactionId: bet.transactionId,
    };
    const win = { ...session, transactionId, kind: 'WIN', amountMinor: 70 };
    const undone = turn % 3 === 0;
    await this.book(undone ? rollback : win, turn + 1);
    this.players.set(player.playerRef, undone ? START : START - 30);
  }

  private async book(body: Body, turn: number): Promise<void> {
    const answer = await this.until(200, (service) => service.submit(body), turn);
    expect(answer.json).toMatchObject({ transactionId: body.transactionId, status: 'APPROVED' });
    this.approvedAtMs.push(performance.now());
    this.booked.push({ body, answer });
  }

  /** Sends the same request again until it has this status. */
  private async until(
    status: number,
    send: (service: BuiltService) => Promise<SignedReply>,
    turn: number,
  ): Promise<SignedReply> {
    for (let attempt = turn; ; attempt += 1) {
      const answer = await send(this.services[attempt % this.services.length]!).catch(codeOf);
      if (typeof answer !== 'string' && answer.status === status) return answer;
      const key = typeof answer === 'string' ? answer : `${answer.status} ${answer.nextAction}`;
      this.retryable.set(key, (this.retryable.get(key) ?? 0) + 1);
      await pause(BACK_OFF_MS);
    }
  }
}

/** Why there was no answer. */
function codeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code ?? String(error);
}
