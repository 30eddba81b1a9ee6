import { problems } from '../strings.ts';

/** A call that failed: the service's own sentence, and what to do next. */
export class Problem extends Error {
  constructor(
    message: string,
    /** 0 if there was no answer. */
    readonly status: number,
    /** Such as `CONFLICT`; undefined if the answer did not come from the service. */
    readonly code: string | undefined,
    /** Such as `fix-request`, `wait-then-retry` or `contact-platform`. */
    readonly nextAction: string | undefined,
    /** Finds the call in the logs and in the audit log. */
    readonly requestId: string | undefined,
    /** What to do next, instead of the general sentence about `nextAction`. */
    readonly advice?: string,
  ) {
    super(message);
  }

  static of({ status, headers }: Pick<Response, 'status' | 'headers'>, body: unknown): Problem {
    const header = (name: string) => headers.get(name) ?? undefined;
    const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: unknown };
    const message = typeof error === 'string' ? error : problems.notOurs(status);
    return new Problem(
      message,
      status,
      header('x-error-code'),
      header('x-next-action'),
      header('x-request-id'),
    );
  }

  /** What the console itself refuses to send. */
  static ofForm(sentence: string): Problem {
    return new Problem(sentence, 400, undefined, undefined, undefined);
  }

  static unreachable(): Problem {
    return new Problem(problems.unreachable, 0, undefined, undefined, undefined);
  }

  /** The same failure with a sentence of its own about what to do next. */
  advised(advice: string): Problem {
    const { message, status, code, nextAction, requestId } = this;
    return new Problem(message, status, code, nextAction, requestId, advice);
  }

  /**
   * Whether the service has refused the request, so that nothing was carried out. TRANSACTION_IN_FLIGHT does not count:
   * another attempt of the same request is under way, and may still be carried out.
   */
  get isRefusal(): boolean {
    const { status, code } = this;
    return code !== undefined && code !== 'TRANSACTION_IN_FLIGHT' && status >= 400 && status < 500;
  }

  /** Whether an action may have been carried out, because the service has not said how it ended. */
  get outcomeUnknown(): boolean {
    const { status, code } = this;
    return code === undefined && (status === 0 || status >= 500);
  }

  /** Whether the same read may succeed in a moment: the service or its database restarts, or has too much to do. */
  get passes(): boolean {
    const { status, nextAction } = this;
    return status === 0 || status === 429 || status >= 502 || nextAction === 'retry-same-request';
  }
}
