import { signRequest } from '@croupier/provider-sdk';
import { parseJsonObject } from '../api/validation/json.js';
import { Clock } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';

export interface Tenant {
  readonly id: string;
  readonly secret: string;
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: unknown;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The answer's JSON object; empty if the answer is anything else. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Creates a function that returns an exchange with an expected status, and throws a readable error otherwise. */
export const expectation =
  (failure: string) =>
  (exchange: Exchange, ...expected: number[]): Exchange => {
    const { method, path, status, text } = exchange;
    if (expected.includes(status)) return exchange;
    throw new Error(`${failure}: ${method} ${path} answered ${status} ${text}`);
  };

/** Longer than the sum of the platform's default time-outs for a wallet and a provider, in milliseconds. */
const TIMEOUT_MS = 20_000;

const clock = new Clock();
const randomness = new Randomness();

/**
 * Sends requests to one server: a platform, or a counterpart of the sandbox. A request without an answer within twenty
 * seconds rejects.
 */
export class PlatformClient {
  /** @param apiUrl without a trailing slash */
  constructor(readonly apiUrl: string) {}

  asAdmin(key: string, method: string, path: string, body?: object): Promise<Exchange> {
    return this.send(method, path, body, { Authorization: `Bearer ${key}` });
  }

  plain(method: string, path: string, body?: object): Promise<Exchange> {
    return this.send(method, path, body, {});
  }

  /** Sends a POST with the four signature headers and a new nonce. */
  signed(tenant: Tenant, path: string, body: object): Promise<Exchange> {
    const headers = signRequest({
      method: 'POST',
      path,
      body: JSON.stringify(body),
      tenantId: tenant.id,
      secret: tenant.secret,
      nonce: randomness.uuid(),
      now: clock.unixSeconds(),
    });
    return this.send('POST', path, body, { ...headers });
  }

  private async send(
    method: string,
    path: string,
    requestBody: object | undefined,
    requestHeaders: Record<string, string>,
  ): Promise<Exchange> {
    const response = await fetch(`${this.apiUrl}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...requestHeaders },
      body: requestBody ? JSON.stringify(requestBody) : null,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    const { status, headers } = response;
    return {
      method,
      path,
      requestHeaders,
      requestBody,
      status,
      headers,
      text,
      json: parseJsonObject(Buffer.from(text)) ?? {},
    };
  }
}
