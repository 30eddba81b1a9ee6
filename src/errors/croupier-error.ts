import { CATALOGUE, type ErrorCode } from './catalogue.js';

/** The error with which this service refuses a request, unless its signature is invalid. */
export class CroupierError extends Error {
  /** Response headers to add, such as `Retry-After`, or to replace, such as `X-Next-Action`. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param message replaces the catalogue's message; it reaches the caller and must not reveal internals */
  constructor(
    readonly code: ErrorCode,
    message?: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message ?? CATALOGUE[code].message);
    this.headers = headers;
  }
}

/** An invalid signature. It carries no reason: the reason is logged and counted, and never shown to the caller. */
export class InvalidSignatureError extends Error {
  constructor() {
    super('invalid signature');
  }
}
