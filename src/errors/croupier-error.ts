import { CATALOGUE, type ErrorCode } from './catalogue.js';

/** The error with which this service refuses a request, unless its signature is invalid. */
export class CroupierError extends Error {
  /**
   * @param message replaces the catalogue's message; it reaches the caller and must not reveal internals
   * @param headers response headers to add, such as `Retry-After`, or to replace, such as `X-Next-Action`
   */
  constructor(
    readonly code: ErrorCode,
    message?: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message ?? CATALOGUE[code].message);
  }
}

/** An invalid signature. It carries no reason: the reason is logged and counted, and never shown to the caller. */
export class InvalidSignatureError extends Error {
  constructor() {
    super('invalid signature');
  }
}
