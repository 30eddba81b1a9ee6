import { type CallbackAnswer, type CallbackHandler, routeOf } from '../callback-handler.js';
import { keptBody, type MaybeRead, readRawBody } from './raw-body.js';

/** The part of Node's `IncomingMessage`, and of requests of frameworks built on it, that the adapter uses. */
export interface NodeRequest extends AsyncIterable<unknown>, MaybeRead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableEnded: boolean;
}

/** The part of Node's `ServerResponse` that the adapter uses. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  end(body?: string): unknown;
  readonly destroyed: boolean;
}

/**
 * The callbacks as a listener of `node:http`, for `createServer(toNodeListener(handler))`. The listener reads the body
 * itself, unless `request.rawBody` has it. It passes other requests to `next`, or answers them with 404 without `next`.
 */
export function toNodeListener(
  handler: CallbackHandler,
): (request: NodeRequest, response: NodeResponse, next?: () => void) => void {
  return (request, response, next) => {
    const target = { method: request.method ?? '', path: request.url ?? '' };
    if (next && !routeOf(handler, target.method, target.path)) return next();
    void respond(handler, { ...target, request }, response);
  };
}

/** Reads the body if necessary, runs the handler, and answers. Never rejects. */
export async function respond(
  handler: CallbackHandler,
  { method, path, request }: { method: string; path: string; request: NodeRequest },
  response: NodeResponse,
): Promise<void> {
  let body = keptBody(request);
  if (body === undefined) {
    const read = await readBody(request, handler.maxBodyBytes);
    if (read === 'gone') return;
    body = read;
  }
  const answer = await handler({ method, path, headers: request.headers, body });
  send(response, answer);
}

/** Answers a call, unless its connection is closed. */
function send(response: NodeResponse, { status, headers, body }: CallbackAnswer): void {
  if (response.destroyed) return;
  // The rest of a body that is too large is not read, so the connection cannot be reused.
  const closing = status === 413 ? { Connection: 'close' } : {};
  response.writeHead(status, { ...headers, ...closing, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

/** Reads the body. Resolves with undefined if it was read before, and with `gone` if the connection was closed. */
async function readBody(request: NodeRequest, maxBytes: number): Promise<Uint8Array | undefined | 'gone'> {
  if (request.readableEnded) return undefined;
  try {
    return await readRawBody(request, maxBytes);
  } catch {
    return 'gone';
  }
}
