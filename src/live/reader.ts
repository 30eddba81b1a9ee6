import type { Response } from 'express';
import { monotonicMs } from '../runtime/clock.js';

/**
 * Maximum number of bytes that wait for a reader, beyond what the kernel buffers: several overviews of a large
 * installation. All readers share the bytes of an event.
 */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** How long bytes may wait for a reader that takes none, in milliseconds. */
const MAX_WAITING_MS = 15_000;

/** How long the browser waits before it connects again, in milliseconds. */
const RETRY_MS = 3_000;
const RETRY = Buffer.from(`retry: ${RETRY_MS}\n\n`);
const COMMENT = Buffer.from(':\n\n');

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  // nginx would collect the events in a buffer.
  'X-Accel-Buffering': 'no',
  // No request follows a stream, and a stop need not wait until the connection has been idle.
  Connection: 'close',
};

/** One reader of the stream, with its connection. */
export class Reader {
  private overviewMs = -Infinity;
  private commentMs = monotonicMs();
  /** The monotonic time since which bytes wait for the reader. */
  private waitingSinceMs: number | undefined;

  /**
   * @param actor the administrator's identifier
   * @param credential the key or token with which the stream was opened
   */
  constructor(
    readonly actor: string,
    readonly credential: string,
    private readonly response: Response,
  ) {
    response.on('drain', () => (this.waitingSinceMs = undefined));
    // A write may meet a connection that has just been closed.
    response.on('error', () => undefined);
  }

  /** Time since the last comment or the beginning, in milliseconds. */
  get commentAgoMs(): number {
    return monotonicMs() - this.commentMs;
  }

  /** Time since the last overview, in milliseconds. */
  get overviewAgoMs(): number {
    return monotonicMs() - this.overviewMs;
  }

  /** Whether the reader has left more unread, or for longer, than it may. */
  get doesNotRead(): boolean {
    const waitingMs = this.waitingSinceMs === undefined ? 0 : monotonicMs() - this.waitingSinceMs;
    return this.response.writableLength > MAX_UNREAD_BYTES || waitingMs > MAX_WAITING_MS;
  }

  begin(): void {
    this.response.writeHead(200, HEADERS);
    this.send(RETRY);
  }

  sendOverview(bytes: Buffer): void {
    this.send(bytes);
    this.overviewMs = monotonicMs();
  }

  /** Shows the reader, and proxies on the way, that the stream is alive. */
  sendComment(): void {
    this.send(COMMENT);
    this.commentMs = monotonicMs();
  }

  send(bytes: Buffer): void {
    if (!this.response.write(bytes)) this.waitingSinceMs ??= monotonicMs();
  }

  /** Ends the stream; the reader still receives what was sent. */
  end(): void {
    this.response.end();
  }

  /** Drops the connection, with what the reader has not read. */
  cutOff(): void {
    // A response that waits for an earlier one of its connection has no socket yet, but its request has.
    this.response.req.socket.resetAndDestroy();
  }
}
