import type { CallbackHandler } from '../callback-handler.js';
import type { BodyReader } from '../post.js';
import { readRawBody } from './raw-body.js';

/** The part of the standard `Request` that the adapter uses. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly bodyUsed: boolean;
  readonly body: { getReader(): BodyReader } | null;
}

/**
 * The callbacks for a server that uses standard `Request` and `Response` objects, such as Bun, Deno and Hono:
 * `Bun.serve({fetch: toFetchHandler(handler)})`, or `app.all('/rgs/*', (c) => handle(c.req.raw))` with Hono. Rejects if
 * the connection is lost while the body is read.
 */
export function toFetchHandler(handler: CallbackHandler): (request: FetchRequest) => Promise<Response> {
  return async (request) => {
    const { method, headers, url } = request;
    // The target as it was sent: a URL object would re-encode some characters.
    const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    const body = request.bodyUsed ? undefined : await readRawBody(chunksOf(request), handler.maxBodyBytes);
    const answer = await handler({ method, path, headers, body });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}

/** The chunks of the body. Uses a reader, because not every runtime can iterate over a stream. */
async function* chunksOf({ body }: FetchRequest): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !value) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
