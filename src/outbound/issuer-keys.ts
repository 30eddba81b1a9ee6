import { Injectable } from '@nestjs/common';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { request } from 'undici';
import { Configuration } from '../config/configuration.js';
import { Clock } from '../runtime/clock.js';
import { failureText } from '../runtime/failure-text.js';
import { AnswerBody, isIdentity } from './answer.js';

const TIMEOUT_MS = 5_000;
/** Maximum number of bytes of an answer that are read; keys may include their certificates. */
const KEYS_LIMIT_BYTES = 256 * 1024;
/**
 * How long fetched keys are used, and the minimum interval between fetches for tokens with unknown keys, in
 * milliseconds.
 */
const KEYS_MAX_AGE_MS = 600_000;
const KEYS_COOLDOWN_MS = 30_000;
/** How long the address of the keys is used before it is looked up again, in milliseconds. */
const DISCOVERY_MAX_AGE_MS = 3_600_000;
/** Pause after a failed discovery, in milliseconds. */
const RETRY_MS = 5_000;

/** The issuer's keys could not be fetched, so no token can be verified. */
export class IssuerUnavailableError extends Error {}

/**
 * The signing keys of an OpenID provider, found through its discovery document. They are fetched when they are needed,
 * so that an unavailable issuer does not delay the start. The issuer's address comes from the configuration and may be
 * private.
 */
@Injectable()
export class IssuerKeys {
  /** The latest discovery, which is repeated from the monotonic time `untilMs` on. */
  private found: { readonly keys: Promise<JWTVerifyGetKey>; untilMs: number } | undefined;
  /** The keys of the latest successful discovery, which are used while a later one runs or fails. */
  private known: JWTVerifyGetKey | undefined;

  constructor(
    private readonly configuration: Configuration,
    private readonly clock: Clock,
  ) {}

  /**
   * The key that a token's header names.
   * @throws IssuerUnavailableError
   * @throws errors.JOSEError if the issuer has no such key or several, or the token's algorithm is not supported
   */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    try {
      const keys = await this.keys();
      return await keys(header, token);
    } catch (error) {
      const unknownKey =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported;
      if (unknownKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw new IssuerUnavailableError(failureText(error), { cause: error });
    }
  };

  private async keys(): Promise<JWTVerifyGetKey> {
    const nowMs = this.clock.monotonicMs();
    if (!this.found || nowMs >= this.found.untilMs) this.found = this.discovery(nowMs);
    return this.known ?? this.found.keys;
  }

  private discovery(nowMs: number): NonNullable<typeof this.found> {
    const keys = this.discover().then(
      (discovered) => (this.known = discovered),
      (error: unknown) => {
        found.untilMs = this.clock.monotonicMs() + RETRY_MS;
        if (!this.known) throw error;
        return this.known;
      },
    );
    const found = { keys, untilMs: nowMs + DISCOVERY_MAX_AGE_MS };
    return found;
  }

  /** OpenID Connect Discovery 1.0, section 4. */
  private async discover(): Promise<JWTVerifyGetKey> {
    const issuer = this.configuration.adminJwt?.issuer ?? '';
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await boundedFetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.status !== 200)
      throw new Error(`the issuer answered ${answer.status} for its discovery document`);
    const document = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (document.issuer !== issuer) throw new Error('the discovery document belongs to another issuer');
    return createRemoteJWKSet(this.keysAddress(document.jwks_uri), {
      timeoutDuration: TIMEOUT_MS,
      cacheMaxAge: KEYS_MAX_AGE_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      [customFetch]: boundedFetch,
    });
  }

  private keysAddress(address: unknown): URL {
    const allowed = this.configuration.outboundAllowPrivate ? ['https:', 'http:'] : ['https:'];
    if (typeof address === 'string' && URL.canParse(address)) {
      const url = new URL(address);
      if (allowed.includes(url.protocol)) return url;
    }
    throw new Error('the discovery document names no usable jwks_uri');
  }
}

/**
 * Fetches without following redirects, reads no more than the bound, and refuses an encoded body unread. The global
 * `fetch` would decompress it as it arrives.
 */
async function boundedFetch(url: string, { headers, signal }: RequestInit): Promise<Response> {
  const answer = await request(url, {
    headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
    signal: signal ?? null,
  });
  const encoding = answer.headers['content-encoding']?.toString();
  if (!isIdentity(encoding)) {
    answer.body.on('error', () => undefined).destroy();
    throw new Error(`the answer has the Content-Encoding ${JSON.stringify(encoding)}`);
  }
  const body = new AnswerBody(KEYS_LIMIT_BYTES);
  for await (const chunk of answer.body) {
    if (!body.add(chunk as Buffer)) throw new Error(body.excess);
  }
  return new Response(body.bytes(), { status: answer.statusCode });
}
