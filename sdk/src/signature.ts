import { createHmac, timingSafeEqual } from 'node:crypto';

/** The four headers of a signed call, in the spelling they are sent with. */
export interface SignatureHeaders {
  'X-Tenant-ID': string;
  'X-Timestamp': string;
  'X-Nonce': string;
  'X-Signature': string;
}

/** What of a request is signed. */
export interface SignedParts {
  /** HTTP method; signed in upper case. */
  method: string;
  /** The request target as it stands on the request line: base path and query string included. */
  path: string;
  /** Unix time in seconds, as the decimal digits that are sent. */
  timestamp: string;
  /** 8 to 128 characters of `A-Z a-z 0-9 - _ . :`, never used before by this tenant. */
  nonce: string;
  /** The bytes as sent; empty where there is no body. */
  body: string | Uint8Array;
}

export interface SignInput {
  method: string;
  path: string;
  body: string | Uint8Array;
  tenantId: string;
  /** The secret exactly as it was shown at creation; its UTF-8 bytes are the key. */
  secret: string;
  nonce: string;
  /** Unix time in seconds. */
  now: number;
}

export type RejectionReason =
  | 'missing_header'
  | 'malformed_header'
  | 'tenant_mismatch'
  | 'timestamp_expired'
  | 'timestamp_in_future'
  | 'signature_mismatch';

export type Verification = { ok: true } | { ok: false; reason: RejectionReason };

/** Headers as a plain object in any case, as Node gives them, or as a `Headers`. */
export type HeadersLike =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyInput {
  method: string;
  path: string;
  headers: HeadersLike;
  body: string | Uint8Array;
  /** One secret, or `secrets` while one is being rotated: a call signed with any of them is accepted. */
  secret?: string;
  secrets?: readonly string[];
  /** The caller's own identifier that `X-Tenant-ID` must carry. */
  tenantId: string;
  /** Unix time in seconds. Default: the wall clock. */
  now?: number;
  /** How far `X-Timestamp` may lie from `now`, either way, in seconds. Default: 300. */
  toleranceSeconds?: number;
}

export const DEFAULT_TOLERANCE_SECONDS = 300;

const TIMESTAMP = /^[0-9]{1,12}$/;
const NONCE = /^[A-Za-z0-9\-_.:]{8,128}$/;
const SIGNATURE = /^[0-9a-f]{64}$/;

/** Signs one request with HMAC-SHA256 over `METHOD\nPATH\nTIMESTAMP\nNONCE\nRAW_BODY` and returns its headers. */
export function signRequest(input: SignInput): SignatureHeaders {
  const timestamp = String(Math.floor(input.now));
  const { method, path, nonce, body, secret } = input;
  return {
    'X-Tenant-ID': input.tenantId,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': mac(secret, { method, path, timestamp, nonce, body }).toString('hex'),
  };
}

/**
 * Judges the four headers of a request. Pure, and constant in time over the signature; it never throws,
 * whatever it is given. A nonce's single use is the caller's to keep: claim it after an `ok`, not before.
 */
export function verifyPlatformSignature(input: VerifyInput): Verification {
  try {
    return verify(input);
  } catch {
    return { ok: false, reason: 'malformed_header' };
  }
}

function verify(input: VerifyInput): Verification {
  const tenant = header(input.headers, 'x-tenant-id');
  const timestamp = header(input.headers, 'x-timestamp');
  const nonce = header(input.headers, 'x-nonce');
  const signature = header(input.headers, 'x-signature');
  if (!tenant || !timestamp || !nonce || !signature) return { ok: false, reason: 'missing_header' };
  if (!TIMESTAMP.test(timestamp) || !NONCE.test(nonce) || !SIGNATURE.test(signature)) {
    return { ok: false, reason: 'malformed_header' };
  }
  if (tenant !== input.tenantId) return { ok: false, reason: 'tenant_mismatch' };

  const now = Math.floor(input.now ?? Date.now() / 1000);
  const tolerance = input.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  if (!(Number(timestamp) >= now - tolerance)) return { ok: false, reason: 'timestamp_expired' };
  if (!(Number(timestamp) <= now + tolerance)) return { ok: false, reason: 'timestamp_in_future' };

  const received = Buffer.from(signature, 'hex');
  const parts = { method: input.method, path: input.path, timestamp, nonce, body: input.body };
  // An empty secret is a lost one: whoever knows the scheme could sign with it.
  const secrets = [...(input.secrets ?? []), input.secret ?? ''].filter((secret) => secret !== '');
  let matches = false;
  for (const secret of secrets) matches = timingSafeEqual(mac(secret, parts), received) || matches;
  return matches ? { ok: true } : { ok: false, reason: 'signature_mismatch' };
}

function mac(secret: string, { method, path, timestamp, nonce, body }: SignedParts): Buffer {
  return createHmac('sha256', secret)
    .update(`${method.toUpperCase()}\n${path}\n${timestamp}\n${nonce}\n`)
    .update(body)
    .digest();
}

/** A header given more than once is no header we can trust: it reads as one malformed value. */
function header(headers: HeadersLike, name: string): string | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? undefined;
  const plain = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const key = name in plain ? name : Object.keys(plain).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : plain[key];
  return Array.isArray(value) ? value.join(', ') : (value as string | undefined);
}
