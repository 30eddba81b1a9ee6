import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { CATALOGUE } from '../errors/catalogue.js';

interface FramingFault {
  readonly status: '400 Bad Request' | '501 Not Implemented';
  readonly message: string;
}

const badRequest = (message: string): FramingFault => ({ status: '400 Bad Request', message });
const HOST_MISSING = badRequest('the Host header is missing');
const HOST_REPEATED = badRequest('the Host header must be sent once');
const HOST_INVALID = badRequest('the Host header is invalid');
const CODING_BEFORE_HTTP_1_1 = badRequest('Transfer-Encoding requires HTTP/1.1');
const CODING_UNKNOWN: FramingFault = {
  status: '501 Not Implemented',
  message: 'the only Transfer-Encoding that is accepted is chunked',
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

/** An error of Node's HTTP parser; `reason` is the parser's message. */
export type ParserError = Error & { readonly code?: string; readonly reason?: string };

const STATUSES = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
]);

/** Status code and reason phrase for a parser error, such as `400 Bad Request`. */
export function statusOf({ code = '', reason = '' }: ParserError): string {
  // Node also reports HPE_INVALID_TRANSFER_ENCODING for a request with both Content-Length and Transfer-Encoding. Such
  // a request is answered with 400.
  const isUnknownCoding = code === 'HPE_INVALID_TRANSFER_ENCODING' && !reason.includes('Content-Length');
  return isUnknownCoding ? '501 Not Implemented' : (STATUSES.get(code) ?? '400 Bad Request');
}

/** Writes a minimal answer directly to the socket, as Node does by default, and closes the connection. */
export function refuseOnSocket(socket: Duplex, status: string, requestId: string): void {
  const answer = `HTTP/1.1 ${status}\r\nConnection: close\r\nX-Request-Id: ${requestId}\r\n\r\n`;
  socket.end(answer, () => socket.destroy());
}
