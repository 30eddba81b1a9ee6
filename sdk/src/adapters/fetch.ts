import type { CallbackHandler } from '../callback-handler.js';

/** Of the standard `Request`, what is needed here. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * The callbacks for a server that takes a standard `Request` and answers a `Response`, as Bun, Deno and Hono do:
 * `Bun.serve({fetch: toFetchHandler(handler)})`. The server has to bound the size of bodies.
 */
export function toFetchHandler(handler: CallbackHandler): (request: FetchRequest) => Promise<Response> {
  return async (request) => {
    const { method, headers, url } = request;
    // The target as it was sent: a URL object would spell some characters anew.
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
