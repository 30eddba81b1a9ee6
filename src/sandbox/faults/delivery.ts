import { type ServerResponse, STATUS_CODES } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChosenFault } from './fault-rules.js';

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function jsonAnswer(status: number, body: object): Answer {
  return { status, headers: JSON_TYPE, body: JSON.stringify(body) };
}

/** Sends an answer in the way that the fault requires. Stops if the caller has disconnected. */
export async function deliver(
  response: ServerResponse,
  answer: Answer,
  fault: ChosenFault | undefined,
): Promise<void> {
  const { headers, body } = answer;
  switch (fault?.name) {
    case 'book-and-stay-silent':
      return;
    case 'book-and-answer-500':
      return send(response, jsonAnswer(500, { error: 'the sandbox was asked to fail' }));
    case 'unreadable-body':
      return send(response, { ...answer, body: body.slice(0, Math.ceil(body.length / 2)) });
    case 'no-external-ref':
      return send(response, { ...answer, body: '{}' });
    case 'redirect':
      return send(response, { status: 307, headers: { ...headers, Location: '/elsewhere' }, body: '' });
    case 'cut-connection': {
      const raw = rawAnswer(answer);
      return void response.socket?.write(raw.slice(0, -1), () => response.socket?.destroy());
    }
    case 'answer-twice':
      return void response.socket?.end(rawAnswer(answer).repeat(2));
    case 'answer-slowly':
      return sendSlowly(response, answer, fault.ms);
    default:
      return send(response, answer);
  }
}

export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

async function sendSlowly(
  response: ServerResponse,
  { status, headers, body }: Answer,
  ms: number,
): Promise<void> {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  for (const byte of bytes.subarray(0, -1)) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await delay(ms / bytes.length, undefined, { ref: false });
  }
  // The caller may reuse the connection as soon as it has the last byte. Therefore one call sends this byte and ends
  // the response.
  response.end(bytes.subarray(-1));
}

/** An answer as it stands on the connection. */
function rawAnswer({ status, headers, body }: Answer): string {
  const fields = Object.entries({ ...headers, 'Content-Length': Buffer.byteLength(body) });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...fields.map((field) => field.join(': ')),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** How long an answer waits for another one to change places with, in milliseconds. */
const WAIT_MS = 250;
/** When an extra answer follows the call's own, in milliseconds: usually during the next call on the connection. */
const EXTRA_AFTER_MS = 2;

/** Delivers answers to the wrong calls, as a wallet or a proxy does that answers once too often on a connection. */
export class AnswerSwap {
  private waiting: { readonly answer: Answer; readonly swap: (other: Answer) => void } | undefined;
  private earlier: Answer | undefined;

  /** Keeps a sent answer, which may later arrive once more as the extra answer to another call. */
  remember(answer: Answer): void {
    if (answer.status === 200) this.earlier = answer;
  }

  /**
   * Swaps the answers of two calls under way. If no second call comes, the call gets its own answer and, 2 ms later, an
   * extra answer of an earlier call; the very first call gets its own answer twice.
   */
  async deliver(response: ServerResponse, answer: Answer): Promise<void> {
    const other = this.waiting;
    if (other) {
      this.waiting = undefined;
      other.swap(answer);
      return send(response, other.answer);
    }
    const extra = this.earlier ?? answer;
    const swapped = await this.waitForAnother(answer);
    send(response, swapped ?? answer);
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
