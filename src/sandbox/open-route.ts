import type { ServerResponse } from 'node:http';
import type { Operation } from '../openapi/operations.js';

/** A GET route without a signature, for people on this machine. */
export interface OpenRoute {
  readonly path: string;
  /** Its description in the counterpart's OpenAPI document. */
  readonly operation: Operation;
  readonly get: (parameters: URLSearchParams, response: ServerResponse) => Promise<void>;
}
