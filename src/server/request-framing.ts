import type { IncomingMessage, ServerResponse } from 'node:http';
import { CATALOGUE } from '../errors/catalogue.js';

/** Why a request that violates HTTP is refused before routing. */
interface FramingFault {
  readonly status: '400 Bad Request' | '501 Not Implemented';
  readonly message: string;
}

const HOST_MISSING: FramingFault = { status: '400 Bad Request', message: 'the Host header is missing' };
const HOST_REPEATED: FramingFault = {
  status: '400 Bad Request',
  message: 'the Host header must be sent once',
};
const HOST_INVALID: FramingFault = { status: '400 Bad Request', message: 'the Host header is invalid' };
const CODING_UNKNOWN: FramingFault = {
  status: '501 Not Implemented',
  message: 'the only Transfer-Encoding that is accepted is chunked',
};
const CODING_BEFORE_HTTP_1_1: FramingFault = {
  status: '400 Bad Request',
  message: 'Transfer-Encoding requires HTTP/1.1',
};

/** Characters of a host and port (RFC 3986, section 3.2.2). The Host header is empty if the target has no authority. */
const HOST = /^[A-Za-z0-9._~!$&'()*+,;=%:[\]-]*$/;

/** Finds violations of RFC 9112, sections 3.2 and 6.1, that Node's parser accepts. */
export function framingFault({
  headers,
  rawHeaders,
  httpVersion,
}: IncomingMessage): FramingFault | undefined {
  if (headers.host === undefined) {
    if (httpVersion !== '1.0') return HOST_MISSING;
  } else {
    if (!HOST.test(headers.host)) return HOST_INVALID;
    if (isRepeated('host', rawHeaders)) return HOST_REPEATED;
  }
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (coding.toLowerCase() !== 'chunked') return CODING_UNKNOWN;
  return httpVersion === '1.0' ? CODING_BEFORE_HTTP_1_1 : undefined;
}

/**
 * Searches `rawHeaders`, which alternates names and values, because `headers` keeps only the first of two Host headers.
 */
function isRepeated(name: string, rawHeaders: readonly string[]): boolean {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index]!;
    if (candidate.length === name.length && candidate.toLowerCase() === name) found += 1;
  }
  return found > 1;
}

/** Answers with the fault and closes the connection. Contract, section 2, defines the form of the answer. */
export function refuseFraming(fault: FramingFault, response: ServerResponse, requestId: string): void {
  const body = JSON.stringify({ error: fault.message });
  response
    .writeHead(Number(fault.status.slice(0, 3)), {
      'x-request-id': requestId,
      'x-error-code': 'INVALID_REQUEST',
      'x-next-action': CATALOGUE.INVALID_REQUEST.nextAction,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      connection: 'close',
    })
    .end(body);
}
