import { createHash, createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { Agent, Pool, request } from 'undici';
import { OPERATOR_SECRET, PROVIDER_SECRET } from './world.js';

const TIMEOUT_MS = 5_000;

/** An answer of the operator. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** The parts in which the two floors differ: connections, hash, signature, call and claim. */
export interface FloorMeans {
  readonly postgresConnections: number;
  /** Whether the claim's statement also returns the session as JSON, to find out why a request must be refused. */
  readonly claimReturnsSession: boolean;
  sha256(text: string): Buffer;
  /** The HMAC over the head and the body, under the provider's or the operator's secret. */
  hmac(of: 'provider' | 'operator', head: string, body: Buffer): Buffer;
  /** @throws Error if there is no answer within 5 seconds */
  post(path: string, headers: Record<string, string>, body: Buffer): Promise<Reply>;
}

/** A careful first version: undici's `request` with a signal for each call, hash objects, string keys. */
export function plainMeans(operator: URL): FloorMeans {
  const secrets = { provider: PROVIDER_SECRET, operator: OPERATOR_SECRET };
  const dispatcher = new Agent({ connections: 128, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  return {
    postgresConnections: 20,
    claimReturnsSession: true,
    sha256: (text) => createHash('sha256').update(text).digest(),
    hmac: (of, head, body) => createHmac('sha256', secrets[of]).update(head).update(body).digest(),
    post: async (path, headers, body) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await request(operator.origin + path, {
        dispatcher,
        method: 'POST',
        headers,
        body,
        signal,
      });
      return { status: answer.statusCode, body: await answer.body.json() };
    },
  };
}

/**
 * The same with key objects made once, one-shot hashes, a `Pool` with its own time-out, and a claim that does not
 * return the session.
 */
export function leanMeans(operator: URL): FloorMeans {
  const keys: Record<'provider' | 'operator', KeyObject> = {
    provider: createSecretKey(PROVIDER_SECRET, 'utf8'),
    operator: createSecretKey(OPERATOR_SECRET, 'utf8'),
  };
  const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS };
  const pool = new Pool(operator.origin, { connections: 10, pipelining: 1, ...timeouts });
  return {
    postgresConnections: 10,
    claimReturnsSession: false,
    sha256: (text) => hash('sha256', text, 'buffer'),
    hmac: (of, head, body) => createHmac('sha256', keys[of]).update(head).update(body).digest(),
    post: async (path, headers, body) => {
      const answer = await pool.request({ path, method: 'POST', headers, body });
      return { status: answer.statusCode, body: await answer.body.json() };
    },
  };
}
