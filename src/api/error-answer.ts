import type { ServerResponse } from 'node:http';
import { CATALOGUE } from '../errors/catalogue.js';
import type { CroupierError } from '../errors/croupier-error.js';
import { refusedWith } from '../observability/trace.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with an error in the contract's form. Contract, section 2. */
export function answerWith(error: CroupierError, response: ServerResponse): void {
  const { status, nextAction } = CATALOGUE[error.code];
  refusedWith(error.code);
  response.setHeader('X-Error-Code', error.code).setHeader('X-Next-Action', nextAction);
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
  writeAnswer(response, status, JSON_TYPE, JSON.stringify({ error: error.message }));
}

export function writeAnswer(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string,
): void {
  response.statusCode = status;
  response
    .setHeader('Content-Type', contentType)
    .setHeader('Content-Length', Buffer.byteLength(body))
    .end(body);
}
