import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { BoundedBytes } from '../runtime/bounded-bytes.js';
import { storable } from '../runtime/storable.js';

/** Maximum number of bytes of a counterpart's answer that are read. Contract, section 6. */
const ANSWER_LIMIT_BYTES = 64 * 1024;

/** Some servers put it before their JSON, where RFC 8259 allows a reader to ignore it. */
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
/** The lowest status of a final answer; those below it are provisional (1xx). */
const FINAL_STATUS = 200;

/** The outcome of a call. A call is sent at most once. */
export type CallOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: Buffer;
      /** The value of `Content-Encoding`, unless it is `identity`: the body is not decoded. */
      readonly encoding?: string;
    }
  | {
      readonly kind: 'timeout';
      /** Set if there was no connection yet, so that nothing was sent. */
      readonly notSent?: true;
      /** The part of the answer that arrived before the time-out, if any. */
      readonly received?: ReceivedAnswer;
      readonly detail: string;
    }
  | {
      readonly kind: 'failed';
      /** True if the answer exceeds a limit. False if the call was not sent or failed before the answer was complete. */
      readonly answered: boolean;
      /** Set if no connection was made, so that nothing was sent. */
      readonly notSent?: true;
      /** The part of an incomplete or too large answer that was read. */
      readonly received?: ReceivedAnswer;
      readonly detail: string;
      /** The system's own message. It may name hosts, so it belongs in the log only. */
      readonly systemMessage?: string;
    };

export interface Interpretation {
  readonly kind: string;
  /** Set if the answer belongs to another call. Its connection is closed, because further answers may be shifted, too. */
  readonly misdirected?: true;
  /** Set if the answer is a 200 that names no call because it cannot be read. Its connection is closed likewise. */
  readonly unreadable?: true;
}

/** The status of an HTTP answer, and its body as far as it was read. */
export interface ReceivedAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Handles the answer to one call through undici's dispatch interface. undici's promise interface would create a stream
 * for each answer, which costs 8 % of a BET's CPU time. The time-out aborts a request that was sent; a request that
 * still waits for a connection is never sent.
 */
export class AnswerHandler implements Dispatcher.DispatchHandler {
  /** The connection that carries the call, once one is chosen. */
  connection: { closeSocket(): void } | undefined;
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private encoding: string | undefined;
  private readonly body = new AnswerBody();
  private timedOut: Error | undefined;
  private tooLarge = false;

  /**
   * @param timeoutMs time-out from now to the last byte of the answer, in milliseconds
   * @param conclude receives and interprets the outcome. It must ignore further calls: after a time-out, the aborted
   *   request reports an error, too
   */
  constructor(
    timeoutMs: number,
    private readonly conclude: (outcome: CallOutcome) => Interpretation,
  ) {
    this.timer = setTimeout(() => {
      this.timedOut = new Error(`no complete answer within ${timeoutMs} ms`);
      this.conclude({ kind: 'timeout', detail: this.timedOut.message, ...this.sent(), ...this.received() });
      this.controller?.abort(this.timedOut);
    }, timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.timedOut) controller.abort(this.timedOut);
    else this.controller = controller;
  }

  /** undici calls this for each 1xx, too; the last status counts. */
  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.status = status;
    this.encoding = headers['content-encoding']?.toString();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.body.add(chunk)) {
      this.tooLarge = true;
      controller.abort(new Error(this.body.excess));
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.timer);
    const answer = { kind: 'answered', status: this.status, body: this.body.bytes() } as const;
    const { encoding } = this;
    const { misdirected, unreadable } = this.conclude(
      encoding === undefined || isIdentity(encoding) ? answer : { ...answer, encoding },
    );
    if (misdirected || unreadable) this.connection?.closeSocket();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    clearTimeout(this.timer);
    this.conclude({ ...failed(error, this.tooLarge), ...this.sent(), ...this.received() });
  }

  /** undici passes the controller when the connection is made, just before it writes the request. */
  private sent(): { notSent?: true } {
    return this.controller ? {} : { notSent: true };
  }

  private received(): { received?: ReceivedAnswer } {
    return this.status < FINAL_STATUS ? {} : { received: { status: this.status, body: this.body.bytes() } };
  }
}

/** Collects the body of an answer as it arrives, up to a limit. */
export class AnswerBody extends BoundedBytes {
  constructor(limitBytes = ANSWER_LIMIT_BYTES) {
    super(limitBytes);
  }

  /** The body as far as it was read, without a UTF-8 byte order mark. */
  override bytes(): Buffer {
    const body = super.bytes();
    return body.indexOf(BYTE_ORDER_MARK) === 0 ? body.subarray(BYTE_ORDER_MARK.length) : body;
  }

  /** The limit that the body exceeds. */
  get excess(): string {
    return this.hasTooManyParts
      ? `the answer has more than ${this.limitParts} parts`
      : `the answer is larger than ${this.limitBytes} bytes`;
  }
}

export function isIdentity(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.trim() === '' || encoding.trim().toLowerCase() === 'identity';
}

/** The outcome of a failed call. */
export function failed(error: unknown, answered = false): Extract<CallOutcome, { kind: 'failed' }> {
  const { code, message } = error as { code?: string; message?: string };
  const detail = reasonOf(error);
  return { kind: 'failed', answered, detail, ...(code && message && { systemMessage: bounded(message) }) };
}

/** Why a call failed, without host names: only the messages of errors without a code are our own. */
export function reasonOf(error: unknown): string {
  const { code, syscall, message } = error as { code?: string; syscall?: string; message?: string };
  return bounded(code ? [code, syscall && `(${syscall})`].filter(Boolean).join(' ') : (message ?? ''));
}

/** Bounds a text, for the database and the log. */
function bounded(text: string): string {
  return storable(text.slice(0, 500));
}
