import { type Body, type Reply } from './broken-server.js';

/** Mistakes in what an operator's wallet writes into its answers; to give no reference is none. */
export type AnswerFault =
  | 'names no transaction'
  | 'names no WIN'
  | 'names no ADJUSTMENT'
  | 'names no declined transaction'
  | 'names no repeated transaction'
  | 'names the BET in the answer to its ROLLBACK'
  | 'names the transaction in lower case'
  | 'cuts the echo at 64 characters'
  | 'escapes the echo for HTML'
  | 'names no player'
  | 'names the first player'
  | 'names no currency'
  | 'names the currency in lower case'
  | 'swaps answers under concurrency'
  | 'makes up a numeric reference'
  | 'answers null for a reference'
  | 'answers an empty reference'
  | 'answers a reference of 201 characters'
  | 'forgets the reference of a repetition'
  | 'gives no reference';

/** How long an answer waits for another one to change places with, in milliseconds. */
const SWAP_MS = 20;
const LONGEST_REFERENCE = 200;

/** Completes a wallet's answers: the names of the call, and a reference of the greatest length. With faults. */
export class BrokenAnswers {
  private readonly known = new Set<string>();
  private waiting: { reply: Reply; release: (reply: Reply) => void } | undefined;

  constructor(private readonly faults: readonly string[]) {}

  /** @param reply the wallet's answer to the call, which names nothing */
  async complete(call: Body, reply: Reply): Promise<Reply> {
    if (reply.status !== 200) return reply;
    const answer = reply.body as Body;
    const body = 'transactionId' in call ? this.decision(call, answer) : { ...this.account(call), ...answer };
    const completed = { ...reply, body };
    return this.is('swaps answers under concurrency') ? this.swapped(completed) : completed;
  }

  private is(fault: AnswerFault): boolean {
    return this.faults.includes(fault);
  }

  private decision(call: Body, { operatorTransactionId: reference, ...answer }: Body): Body {
    const key = [call['providerId'], call['transactionId']].join(' ');
    const isRepeated = this.known.has(key);
    this.known.add(key);
    const isUnnamed =
      this.is('names no transaction') ||
      (call['kind'] === 'WIN' && this.is('names no WIN')) ||
      (call['kind'] === 'ADJUSTMENT' && this.is('names no ADJUSTMENT')) ||
      (answer['status'] === 'DECLINED' && this.is('names no declined transaction')) ||
      (isRepeated && this.is('names no repeated transaction'));
    const operatorTransactionId = this.reference(reference, isRepeated);
    return {
      ...(!isUnnamed && { transactionId: this.transactionId(call) }),
      ...answer,
      operatorTransactionId,
    };
  }

  private transactionId({ transactionId, originalTransactionId }: Body): string {
    if (this.is('names the BET in the answer to its ROLLBACK'))
      return String(originalTransactionId ?? transactionId);
    const id = String(transactionId);
    if (this.is('names the transaction in lower case')) return id.toLowerCase();
    if (this.is('cuts the echo at 64 characters')) return id.slice(0, 64);
    return this.is('escapes the echo for HTML') ? id.replaceAll('&', '&amp;').replaceAll('<', '&lt;') : id;
  }

  private account({ playerRef, currency }: Body): Body {
    return {
      ...(!this.is('names no player') && {
        playerRef: this.is('names the first player') ? 'player-1' : playerRef,
      }),
      ...(!this.is('names no currency') && {
        currency: this.is('names the currency in lower case') ? String(currency).toLowerCase() : currency,
      }),
    };
  }

  private reference(reference: unknown, isRepeated: boolean): unknown {
    if (typeof reference !== 'string') return reference;
    if (this.is('gives no reference')) return undefined;
    if (isRepeated && this.is('forgets the reference of a repetition')) return undefined;
    if (this.is('makes up a numeric reference')) return Number(reference.replace(/\D/g, ''));
    if (this.is('answers null for a reference')) return null;
    if (this.is('answers an empty reference')) return '';
    // A character of two UTF-16 code units: length is counted in characters.
    const rest = LONGEST_REFERENCE - reference.length;
    return reference + '𝄞'.repeat(this.is('answers a reference of 201 characters') ? rest + 1 : rest);
  }

  /** Exchanges the reply for that of another call, if one is answered soon. */
  private swapped(reply: Reply): Promise<Reply> {
    const other = this.waiting;
    this.waiting = undefined;
    if (other) {
      other.release(reply);
      return Promise.resolve(other.reply);
    }
    return new Promise((resolve) => {
      const release = (answer: Reply) => {
        clearTimeout(timer);
        resolve(answer);
      };
      const timer = setTimeout(() => {
        this.waiting = undefined;
        resolve(reply);
      }, SWAP_MS);
      this.waiting = { reply, release };
    });
  }
}
