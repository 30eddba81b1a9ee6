import type { CallbackHandler } from '../callback-handler.js';
import { readRawBody } from './raw-body.js';

/** The part of the standard `Request` that the adapter uses. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly bodyUsed: boolean;
  readonly body: { getReader(): FetchBodyReader } | null;
}

/** The part of the standard `ReadableStreamDefaultReader` that the adapter uses. */
export interface FetchBodyReader {
  read(): Promise<{ done: true } | { done: false; value: Uint8Array }>;
  cancel(): Promise<void>;
}

/**
 * The callbacks for a server that uses standard `Request` and `Response` objects, such as Bun, Deno and Hono:
 * `Bun.serve({fetch: toFetchHandler(handler)})`. Rejects if the connection is lost while the body is read.
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
      const result = await reader.read();
      if (result.done) return;
      yield result.value;
    }
  } finally {
    await reader.cancel();
  }
}
