import type { Duplex } from 'node:stream';

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
