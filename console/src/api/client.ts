import createClient, { type Middleware } from 'openapi-fetch';
import { Problem } from './problem.ts';
import type { paths } from './schema.d.ts';
import { currentKey, inSession } from './session.ts';

const credentials: Middleware = {
  onRequest({ request }) {
    // A key that is being tried before the sign-in stands in the request already.
    const key = currentKey();
    if (key !== undefined && !request.headers.has('authorization'))
      request.headers.set('authorization', `Bearer ${key}`);
    return request;
  },
};

/** Longest wait for the answer to a read, in milliseconds. */
export const READ_MS = 30_000;

/** The signal of a read, which is also aborted if no answer has come in time. */
export const untilTimeout = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);

/** Only reads have a time-out: an action may still be carried out after its caller has stopped waiting. */
const fetchBounded = (request: Request): Promise<Response> =>
  request.method === 'GET' ? fetch(request, { signal: untilTimeout(request.signal) }) : fetch(request);

/** The admin API, typed by its own document. Pages call it through `answer`. */
export const api = createClient<paths, 'application/json'>({
  baseUrl: '/',
  cache: 'no-store',
  redirect: 'error',
  fetch: fetchBounded,
});
api.use(credentials);

type Call<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

/**
 * The body of a call's answer: `await answer(api.GET('/v1/admin/me'))`.
 * @throws Problem with the service's own sentence
 */
export async function answer<T>(call: Call<T>): Promise<T> {
  return (await answerWithStatus(call)).body;
}

/** For actions that may wait for approval (202), or that a repetition answers with another status. */
export function answerWithStatus<T>(call: Call<T>): Promise<{ status: number; body: T }> {
  return inSession(judged(call));
}

async function judged<T>(call: Call<T>): Promise<{ status: number; body: T }> {
  const { data, error, response } = await call.catch(asProblem);
  if (response.ok) return { status: response.status, body: data as T };
  throw Problem.of(response, error);
}

/**
 * Downloads what a list's address selects, as CSV, with the key in its header.
 * @param path such as `/v1/admin/transactions`
 * @param query the list's filters; without a `limit` the whole filter is streamed
 * @param onBytes gets the number of bytes that have arrived so far
 */
export async function csv(
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<Blob> {
  const address = `${path}?${new URLSearchParams({ ...query, bom: 'true' })}`;
  const response = await inSession(get(address, 'text/csv', signal));
  let bytes = 0;
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      onBytes((bytes += chunk.byteLength));
      controller.enqueue(chunk);
    },
  });
  const counted = new Response(response.body?.pipeThrough(counter), { headers: response.headers });
  return counted.blob().catch(asProblem);
}

/** Reads JSON that no document describes, such as that of the console's own routes, with the key in its header. */
export async function getJson<T>(path: string, signal: AbortSignal): Promise<T> {
  const response = await inSession(get(path, 'application/json', untilTimeout(signal)));
  return (await response.json().catch(asProblem)) as T;
}

async function get(address: string, accept: string, signal: AbortSignal): Promise<Response> {
  const headers = { accept, authorization: `Bearer ${currentKey() ?? ''}` };
  const response = await fetch(address, { headers, signal, cache: 'no-store' }).catch(asProblem);
  if (response.ok) return response;
  throw Problem.of(response, await response.json().catch(() => undefined));
}

/** A body that breaks off, or is not JSON, is no answer either. What the page itself aborts stays an abort. */
function asProblem(error: unknown): never {
  const aborted = error instanceof DOMException && error.name === 'AbortError';
  throw aborted || error instanceof Problem ? error : Problem.unreachable();
}
