import { CATALOGUE, type ErrorCode } from './catalogue.js';

/** The only error with which this service refuses a request. */
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

/** An invalid signature. The reason is for the log and the metric, and never for the caller. */
export class InvalidSignatureError extends Error {
  constructor() {
    super('invalid signature');
  }
}
