import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { watchConnection } from './connecting.js';
import type { BodyReader, FetchLike } from './post.js';

/** How long an idle connection is kept, in milliseconds; a shorter `Keep-Alive` hint of the server takes precedence. */
const IDLE_MS = 4_000;

const OPTIONS = { keepAlive: true, timeout: IDLE_MS };
const HTTP = {
  request: requestHttp,
  agent: closedByStrayBytes(new HttpAgent(OPTIONS)),
  established: 'connect',
} as const;
const HTTPS = {
  request: requestHttps,
  agent: closedByStrayBytes(new HttpsAgent(OPTIONS)),
  established: 'secureConnect',
} as const;

/**
 * Sends a request with Node's own client. The global `fetch` decompresses an answer by itself, so that the bytes of a
 * counterpart or of a proxy would reach a decoder before anything is checked. Redirects are not followed.
 */
export const undecodedFetch: FetchLike = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const { request, agent, established } = url.startsWith('https:') ? HTTPS : HTTP;
    const bytes = Buffer.from(body);
    const sent = { ...headers, 'Content-Length': String(bytes.length) };
    const call = request(url, { method, headers: sent, agent, signal });
    call.on('error', reject);
    watchConnection(call, established, signal);
    // A request may also end without an error, such as after a switch of protocols.
    call.on('close', () => reject(new Error('the connection was closed without an answer')));
    call.on('response', (response) => {
      // The reader reports the error, but not before its first read.
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: { get: (name) => headerIn(response, name) },
        body: { getReader: () => readerOf(response) },
      });
    });
    call.end(bytes);
  });

function headerIn({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return (Array.isArray(value) ? value.join(', ') : value) ?? null;
}

function readerOf(response: IncomingMessage): BodyReader {
  const chunks = response[Symbol.asyncIterator]();
  return {
    read: async () => {
      const { done = false, value } = (await chunks.next()) as IteratorResult<Uint8Array, undefined>;
      return { done, value };
    },
    cancel: async () => void response.destroy(),
  };
}

/** Closes an idle connection on which bytes arrive: they are an answer that no call has asked for. */
function closedByStrayBytes<A extends HttpAgent>(agent: A): A {
  const keep: (socket: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  const close = function (this: Duplex) {
    this.destroy();
  };
  return Object.assign(agent, {
    keepSocketAlive: (socket: Duplex) => {
      const kept = keep(socket);
      socket.on('data', close);
      return kept;
    },
    reuseSocket: (...[socket, request]: Parameters<HttpAgent['reuseSocket']>) => {
      socket.off('data', close);
      reuse(socket, request);
    },
  });
}
