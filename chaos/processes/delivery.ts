import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Delay of an extra answer, in milliseconds. By then, the next call is often under way on the same connection. */
const EXTRA_MS = 2;
/** How long an answer waits for another one to change places with, in milliseconds. */
const SWAP_MS = 20;

/** Delivers the answers of one wallet or webhook, some of them to another call than theirs. */
export class Delivery {
  /** How often two answers changed places. */
  swaps = 0;
  /** How often an answer was sent once more. */
  repeats = 0;
  private waiting: { readonly response: ServerResponse; readonly body: object } | undefined;
  private latest: object | undefined;

  /** Answers 200. If another answer waits to be swapped, the two change places. */
  send(response: ServerResponse, body: object): void {
    const { waiting } = this;
    this.waiting = undefined;
    this.latest = body;
    if (waiting) {
      this.swaps += 1;
      sendJson(waiting.response, 200, body);
    }
    sendJson(response, 200, waiting?.body ?? body);
  }

  /** Answers 200, and later once more on the same connection. */
  sendTwice(response: ServerResponse, body: object): void {
    const { socket } = response;
    this.send(response, body);
    this.sendExtra(socket, body);
  }

  /**
   * Answers 200 with the answer to the next call, and that call with this answer. If there is none in time, answers
   * correctly, and later sends the latest earlier answer once more on the same connection.
   */
  swap(response: ServerResponse, body: object): void {
    if (this.waiting) return this.send(response, body);
    const waiting = { response, body };
    this.waiting = waiting;
    setTimeout(() => {
      if (this.waiting !== waiting) return;
      this.waiting = undefined;
      const { socket } = response;
      const earlier = this.latest;
      this.send(response, body);
      if (earlier) this.sendExtra(socket, earlier);
    }, SWAP_MS);
  }

  private sendExtra(socket: Socket | null, body: object): void {
    const text = JSON.stringify(body);
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
    setTimeout(() => {
      if (!socket?.writable) return;
      this.repeats += 1;
      socket.write(head + text);
    }, EXTRA_MS);
  }
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
