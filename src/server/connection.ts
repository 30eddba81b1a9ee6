import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from './server-limits.js';
import { kernelProgress, stopParsing } from './node-internals.js';

/**
 * The server may close its side of a connection while the client is still sending a request. The client may then
 * continue to send for this time, in milliseconds, and up to this size, in bytes. Beyond either limit, the connection
 * is destroyed.
 */
const LINGER_MS = 5_000;
const LINGER_BYTES = 1024 * 1024;

/** Why a connection was destroyed. */
export type DestroyReason = 'address-limit' | 'pipelining' | 'unread-answer';

/**
 * A client's connection. Bounds the unanswered requests, and the time for which the client may leave an answer unread.
 */
export class ClientConnection {
  private readonly unanswered = new Set<ServerResponse>();
  private latestRequest: IncomingMessage | undefined;
  private progress = { sentBytes: 0, atMs: 0 };
  private linger: { readonly untilMs: number; readonly bytesRead: number } | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly limits: Pick<ServerLimits, 'unansweredRequests' | 'unreadAnswerTimeoutMs'>,
    private readonly report: (reason: DestroyReason) => void,
    private readonly nowMs: () => number,
  ) {
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => (this.isReceiving() ? this.closeGently() : destroySoon());
    socket.once('close', () => this.closeQueuedAnswers());
  }

  /**
   * Whether an answer may be written directly to the socket: all earlier requests have been answered, and the answer to
   * a request that is still being received has not begun.
   */
  get expectsAnswer(): boolean {
    const [due] = this.unanswered;
    if (due === undefined) return true;
    return this.unanswered.size === 1 && this.isReceiving() && !due.headersSent;
  }

  /**
   * Counts a request until its answer has been sent. A request beyond the bound destroys the connection, because
   * pausing the socket would not stop the requests that Node has already read.
   * @returns whether the request is to be handled
   */
  admit(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.socket.destroyed) return false;
    if (this.unanswered.size >= this.limits.unansweredRequests) {
      this.destroy('pipelining');
      stopParsing(this.socket);
      return false;
    }
    this.latestRequest = request;
    this.unanswered.add(response);
    response.once('close', () => this.unanswered.delete(response));
    return true;
  }

  /**
   * Destroys the connection if its client does not read answers. After `closeGently`, also destroys the connection if
   * the client has not closed it after `LINGER_MS`, or has sent more than `LINGER_BYTES`.
   */
  check(): void {
    const nowMs = this.nowMs();
    if (this.linger && (nowMs >= this.linger.untilMs || this.socket.bytesRead > this.linger.bytesRead)) {
      this.socket.destroy();
      return;
    }
    const { sentBytes, waitingBytes } = kernelProgress(this.socket);
    if (waitingBytes === 0 || sentBytes !== this.progress.sentBytes) {
      this.progress = { sentBytes, atMs: nowMs };
    } else if (nowMs - this.progress.atMs >= this.limits.unreadAnswerTimeoutMs) {
      this.destroy('unread-answer');
    }
  }

  private destroy(reason: DestroyReason): void {
    this.report(reason);
    // A reset discards the data that the client does not read. The kernel would otherwise keep the data.
    this.socket.resetAndDestroy();
  }

  private isReceiving(): boolean {
    return this.latestRequest?.complete === false;
  }

  /**
   * Closes only the sending side, because the client is still sending. Node would close both sides. This would reset
   * the connection, and the client could lose an answer that it has not read yet. RFC 9112, section 9.6.
   */
  private closeGently(): void {
    this.linger = { untilMs: this.nowMs() + LINGER_MS, bytesRead: this.socket.bytesRead + LINGER_BYTES };
    this.socket.end();
  }

  /** Emits `close` on queued answers, because Node does so only on the answer that is being sent. */
  private closeQueuedAnswers(): void {
    for (const response of this.unanswered) if (!response.socket) response.emit('close');
  }
}
