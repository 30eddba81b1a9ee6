import { CATALOGUE, type ErrorCode } from './catalogue.js';

/** The error with which this service refuses a request, unless its signature is invalid. */
export class CroupierError extends Error {
  /** Further response headers, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param message replaces the catalogue's message; it reaches the caller, so it names nothing internal */
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
