import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cutOff } from '../api/cut-off.js';
import type { ServerLimits } from './server-limits.js';

/**
 * The server may close its side of a connection while the client is still sending a request. The client may then
 * continue to send for this time, in milliseconds, and up to this size, in bytes. Beyond either limit, the connection
 * is destroyed.
 */
const LINGER_MS = 5_000;
const LINGER_BYTES = 1024 * 1024;

export type DestroyReason = 'server-limit' | 'address-limit' | 'pipelining' | 'unread-answer';

/**
 * A client's connection. Bounds the unanswered requests, and the time for which the client may leave an answer unread.
 */
export class ClientConnection {
  private readonly unanswered = new Set<ServerResponse>();
  private latestRequest: IncomingMessage | undefined;
  /** How many bytes had been received when the latest answer was sent. */
  private answeredBytes: number | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly limits: Pick<ServerLimits, 'unansweredRequests' | 'unreadAnswerTimeoutMs'>,
    private readonly report: (reason: DestroyReason) => void,
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
    if (this.socket.destroyed) {
      // Node passes on every request of the chunk that it has read, and would end each with an error and its stack.
      request.destroy();
      return false;
    }
    if (this.unanswered.size >= this.limits.unansweredRequests) {
      this.destroy('pipelining');
      return false;
    }
    // After the answer, Node sets its time-out for idle connections.
    this.socket.setTimeout(this.limits.unreadAnswerTimeoutMs);
    this.latestRequest = request;
    this.unanswered.add(response);
    const rememberReceived = () => (this.answeredBytes = this.socket.bytesRead);
    response.once('close', () => {
      this.unanswered.delete(response);
      rememberReceived();
      // The rest of a request that was answered early is not a further one.
      if (!request.complete) request.once('end', rememberReceived);
    });
    return true;
  }

  /**
   * Ends a connection on which no byte was received, and none accepted by the kernel, during its time-out. While a
   * request is being processed, there may be none for longer.
   */
  timedOut(): void {
    if (this.unanswered.size === 0) this.socket.destroy();
    else if (this.socket.writableLength > 0) this.destroy('unread-answer');
  }

  /** Closes the connection if every request has been answered completely, and nothing of a further one has arrived. */
  closeIfIdle(): void {
    if (this.unanswered.size === 0 && this.socket.bytesRead === this.answeredBytes) this.socket.destroy();
  }

  /** Closes the connection, even if requests are unanswered. */
  close(): void {
    for (const response of this.unanswered) cutOff(response);
    this.socket.destroy();
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
    const { socket } = this;
    const allowedBytes = socket.bytesRead + LINGER_BYTES;
    socket.on('data', () => socket.bytesRead > allowedBytes && socket.destroy());
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.end();
  }

  /** Emits `close` on queued answers, because Node does so only on the answer that is being sent. */
  private closeQueuedAnswers(): void {
    for (const response of this.unanswered) if (!response.socket) response.emit('close');
  }
}
