import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Socket } from 'node:net';
import { CroupierError } from '../errors/croupier-error.js';
import { monotonicMs } from '../runtime/clock.js';
import { awaitsContinue, continueToBody } from './postponed-continue.js';

/** Longest time without a byte of the body, in milliseconds: the client is probably gone. */
const SILENCE_MS = 30_000;
/** Longest total time that is spent waiting for the client, in milliseconds: 64 MiB at one megabit per second. */
const WAITING_MS = 600_000;

export const BODY_READING = 'croupier:body-reading';

/** How the body of a route is read. */
export interface BodyReading {
  readonly limitBytes: number;
  /** Whether the handler reads the body. */
  readonly streamed: boolean;
}

/**
 * Lets a route read its body as a stream, with `BodyStream`, after every guard has passed. Other bodies are read as a
 * whole before the first guard.
 * @param limitBytes the body limit of the route
 */
export const StreamsBody = (limitBytes: number) =>
  SetMetadata(BODY_READING, { limitBytes, streamed: true } satisfies BodyReading);

/** Passes the `StreamedBody` to a handler's parameter. */
export const BodyStream = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<Request>().body as StreamedBody,
);

/** Connections on which a body is being streamed. */
const STREAMING = new WeakSet<Socket>();

/** Whether a body is being streamed, whose time-outs are those of `StreamedBody` instead of the server's. */
export function isStreaming(socket: Socket): boolean {
  return STREAMING.has(socket);
}

/**
 * A body that is read in chunks, as fast as the reader takes them: at most a few chunks are in memory. Until it has been
 * read to its end, an answer closes the connection, which could not carry another request.
 */
export class StreamedBody implements AsyncIterable<Buffer> {
  private receivedBytes = 0;
  private waitedMs = 0;

  constructor(
    private readonly request: Request,
    private readonly response: Response,
    private readonly limitBytes: number,
    private readonly silenceMs = SILENCE_MS,
    private readonly waitingMs = WAITING_MS,
  ) {
    response.setHeader('Connection', 'close');
  }

  /**
   * The chunks that have not been read yet.
   * @throws CroupierError PAYLOAD_TOO_LARGE · INVALID_REQUEST if the body does not arrive complete, or arrives too slowly
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const { socket } = this.request;
    this.assertSize();
    continueToBody(this.response);
    this.response.setHeader('Connection', 'close');
    STREAMING.add(socket);
    const chunks = this.request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
    try {
      for (;;) {
        const { done, value } = await this.next(chunks);
        if (done) break;
        this.receivedBytes += value.length;
        this.assertSize();
        yield value;
      }
      this.response.removeHeader('Connection');
    } finally {
      STREAMING.delete(socket);
      await chunks.return?.();
    }
  }

  /**
   * Reads and drops the rest of a refused body, because most clients read the answer only after they have sent the whole
   * body. Does nothing if the client has been told to wait before it sends.
   */
  async discard(): Promise<void> {
    if (awaitsContinue(this.response)) return;
    try {
      const rest = this[Symbol.asyncIterator]();
      while (!(await rest.next()).done);
    } catch {
      // The rest cannot be read either, or is too large, so the answer closes the connection.
    }
  }

  private async next(chunks: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer, undefined>> {
    const beganMs = monotonicMs();
    const silence = setTimeout(() => this.request.destroy(), this.silenceMs);
    try {
      return (await chunks.next()) as IteratorResult<Buffer, undefined>;
    } catch {
      throw new CroupierError('INVALID_REQUEST', 'the request body could not be read');
    } finally {
      clearTimeout(silence);
      this.waitedMs += monotonicMs() - beganMs;
      this.assertInTime();
    }
  }

  private assertSize(): void {
    if (this.receivedBytes > this.limitBytes) throw new CroupierError('PAYLOAD_TOO_LARGE');
  }

  private assertInTime(): void {
    if (this.waitedMs <= this.waitingMs) return;
    throw new CroupierError('INVALID_REQUEST', 'the request body arrives too slowly');
  }
}
