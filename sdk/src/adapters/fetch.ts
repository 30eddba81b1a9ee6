import type { CallbackHandler } from '../callback-handler.js';

/** The part of the standard `Request` that the adapter uses. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * The callbacks for a server that uses standard `Request` and `Response` objects, such as Bun, Deno and Hono:
 * `Bun.serve({fetch: toFetchHandler(handler)})`. The server must limit the size of bodies, because this adapter reads
 * each body whole.
 */
export function toFetchHandler(handler: CallbackHandler): (request: FetchRequest) => Promise<Response> {
  return async (request) => {
    const { method, headers, url } = request;
    // The target as it was sent: a URL object would re-encode some characters.
    const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
    const answer = await handler({
      method,
      path,
      headers,
      body: new Uint8Array(await request.arrayBuffer()),
    });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}
