import { expect } from 'vitest';
import type { Reply, World } from './world.js';

export type TransactionBody = ReturnType<World['transaction']>;

/** A transaction whose call the operator has received, and answers only when it is released. */
export interface PendingTransaction {
  release: () => void;
  readonly answer: Promise<Reply>;
}

/** Brings transactions into the states that the tables of the contract's section 3 name. */
export class Transactions {
  private abandonedCalls: PendingTransaction[] = [];

  constructor(private readonly world: World) {}

  async approved(body: TransactionBody): Promise<TransactionBody> {
    const reply = await this.world.submit(body);
    expect(reply.json).toMatchObject({ status: 'APPROVED' });
    return body;
  }

  async declined(body: TransactionBody): Promise<TransactionBody> {
    const { transactionId } = body;
    this.world.wallet.next({ do: 'decline', reason: 'INSUFFICIENT_FUNDS' }, { transactionId });
    const reply = await this.world.submit(body);
    expect(reply.json).toMatchObject({ status: 'DECLINED' });
    return body;
  }

  /**
   * Submits a transaction that becomes TIMED_OUT, because the operator gives no valid answer.
   * @param booked whether the operator books the transaction before that
   */
  async timedOut(body: TransactionBody, booked = false): Promise<TransactionBody> {
    const { transactionId } = body;
    const failure = { do: 'answer', status: 500 } as const;
    this.world.wallet.next(booked ? { do: 'book-then', then: failure } : failure, { transactionId });
    const reply = await this.world.submit(body);
    expect(reply.status).toBe(500);
    return body;
  }

  /** Submits a transaction that stays PENDING, with a lease that has not expired. */
  async pending(body: TransactionBody): Promise<PendingTransaction> {
    const { transactionId } = body;
    const held = this.world.wallet.next({ do: 'hold' }, { transactionId });
    const answer = this.world.submit(body);
    await held.arrived;
    return { release: held.release, answer };
  }

  /** Like `pending`, but expires the lease, as if the instance had died. `releaseAbandoned` resumes the old attempt. */
  async abandoned(body: TransactionBody): Promise<TransactionBody> {
    this.abandonedCalls.push(await this.pending(body));
    await this.world.endLease(body.transactionId);
    return body;
  }

  /**
   * Releases the old attempts of abandoned transactions.
   * @returns their answers, oldest first
   */
  async releaseAbandoned(): Promise<Reply[]> {
    const calls = this.abandonedCalls;
    this.abandonedCalls = [];
    for (const { release } of calls) release();
    return Promise.all(calls.map(({ answer }) => answer));
  }
}
