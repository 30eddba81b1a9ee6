import { CATALOGUE, type ErrorCode } from './catalogue.js';

/** The one error with which this service refuses. */
export class CroupierError extends Error {
  /** Further response headers, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param message in place of the catalogue's words; it reaches the caller, so it names nothing internal */
  constructor(
    readonly code: ErrorCode,
    message?: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message ?? CATALOGUE[code].message);
    this.headers = headers;
  }
}

/** A signature that does not hold. Why is for the log and the metric, never for the wire. */
export class InvalidSignatureError extends Error {
  constructor() {
    super('invalid signature');
  }
}
