import type { Dispatcher } from 'undici';

/** What of an answer is read at most, in bytes. */
const LIMIT_BYTES = 64 * 1024;

/** What is known after a call was sent once. */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer }
  | { readonly kind: 'timeout'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string };

/**
 * The answer to one call, collected as it comes: undici's own promise makes a stream of each, which costs more than all
 * that is read from it. Once the time-out is over, what was not sent yet is never sent, and what was is cut off.
 */
export class Answer implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private patienceOver: Error | undefined;

  /**
   * @param timeoutMs from now to the last byte, in milliseconds
   * @param conclude its first call counts: what was given up fails as well
   */
  constructor(
    timeoutMs: number,
    private readonly conclude: (outcome: CallOutcome) => void,
  ) {
    this.timer = setTimeout(() => {
      this.patienceOver = new Error(`no whole answer within ${timeoutMs} ms`);
      this.conclude({ kind: 'timeout', detail: this.patienceOver.message });
      this.controller?.abort(this.patienceOver);
    }, timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.patienceOver) controller.abort(this.patienceOver);
    else this.controller = controller;
  }

  /** Called for each 1xx as well; the last one counts. */
  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size <= LIMIT_BYTES) this.chunks.push(chunk);
    else controller.abort(new Error(`the answer is larger than ${LIMIT_BYTES} bytes`));
  }

  onResponseEnd(): void {
    clearTimeout(this.timer);
    this.conclude({ kind: 'answered', status: this.status, body: Buffer.concat(this.chunks) });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    clearTimeout(this.timer);
    this.conclude(failed(error));
  }
}

/** The outcome of a call that something went wrong with. */
export function failed(error: unknown): CallOutcome {
  const { code, message } = error as { code?: string; message?: string };
  const detail = [code, message].filter(Boolean).join(': ').slice(0, 500);
  return { kind: 'failed', detail: detail.toWellFormed().replaceAll('\0', '\uFFFD') };
}
