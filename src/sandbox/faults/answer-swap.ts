import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, rawAnswer, send } from './delivery.js';

/** How long an answer waits for another one to change places with, in milliseconds. */
const WAIT_MS = 250;
/** When an extra answer follows the call's own, in milliseconds: usually during the next call on the connection. */
const EXTRA_AFTER_MS = 2;

/** Delivers answers to the wrong calls, as a wallet or a proxy does that answers once too often on a connection. */
export class AnswerSwap {
  private waiting: { readonly answer: Answer; readonly swap: (other: Answer) => void } | undefined;
  private earlier: Answer | undefined;

  /**
   * Swaps the answers of two calls under way. If no second call comes, the call gets its own answer and, 2 ms later, an
   * extra answer of an earlier call.
   */
  async deliver(response: ServerResponse, answer: Answer): Promise<void> {
    const other = this.waiting;
    if (other) {
      this.waiting = undefined;
      other.swap(answer);
      return send(response, other.answer);
    }
    const swapped = await this.waitForAnother(answer);
    send(response, swapped ?? answer);
    const extra = this.earlier ?? answer;
    this.earlier = answer;
    if (swapped) return;
    const { socket } = response;
    await delay(EXTRA_AFTER_MS);
    if (socket?.writable) socket.write(rawAnswer(extra));
  }

  private waitForAnother(answer: Answer): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting = undefined;
        resolve(undefined);
      }, WAIT_MS);
      this.waiting = {
        answer,
        swap: (other) => {
          clearTimeout(timer);
          resolve(other);
        },
      };
    });
  }
}
