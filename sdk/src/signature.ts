import { createHmac, timingSafeEqual } from 'node:crypto';

/** The four headers of a signed call. */
export type SignatureHeaders = Record<'X-Tenant-ID' | 'X-Timestamp' | 'X-Nonce' | 'X-Signature', string>;

/** The parts of a request that are signed. */
export interface SignedParts {
  /** HTTP method; signed in upper case. */
  method: string;
  /** The request target as it stands on the request line: base path and query string included. */
  path: string;
  /** Unix time in seconds, as the decimal digits that are sent. */
  timestamp: string;
  /** 8 to 128 characters of `A-Z a-z 0-9 - _ . :`, never used before by this tenant. */
  nonce: string;
  /** The bytes as sent; empty if there is no body. */
  body: string | Uint8Array;
}

export interface SignInput {
  /** HTTP method; signed in upper case. */
  method: string;
  /** The request target as it will stand on the request line: base path and query string included. */
  path: string;
  /** The bytes that will be sent; empty if there is no body. */
  body: string | Uint8Array;
  /** The value of `X-Tenant-ID`: in a call to the platform, your own identifier. */
  tenantId: string;
  /** The secret exactly as it was shown at creation; its UTF-8 bytes are the key. */
  secret: string;
  /** 8 to 128 characters of `A-Z a-z 0-9 - _ . :`, never used before by this tenant. */
  nonce: string;
  /** Unix time in seconds; a fraction is cut off. */
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

/** Headers in the form of Node's `request.headers`. */
export type PlainHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Headers, with names in upper or lower case: a plain object, such as Node's `request.headers`; a `Headers` object; a
 * list of `[name, value]` pairs; or a flat list, such as Node's `rawHeaders`.
 */
export type HeadersLike =
  | { get(name: string): string | null | undefined }
  | PlainHeaders
  | readonly (readonly [name: string, value: string])[]
  | readonly string[];

export interface VerifyInput {
  /** The HTTP method, in upper or lower case. */
  method: string;
  /** The request target as it stood on the request line: base path and query string included. */
  path: string;
  headers: HeadersLike;
  /** The raw, unparsed bytes; empty if there is no body. */
  body: string | Uint8Array;
  /**
   * The secret. During a rotation, pass all valid ones as `secrets`: a call signed with any of them is accepted. Empty
   * and blank ones are ignored; without any other, no call is accepted.
   */
  secret?: string | undefined;
  secrets?: readonly string[] | undefined;
  /** Your own identifier. `X-Tenant-ID` must be equal to it. */
  tenantId: string;
  /** Unix time in seconds. Default: the system clock. */
  now?: number | undefined;
  /** Largest difference between `X-Timestamp` and `now`, in seconds. Default: 300. */
  toleranceSeconds?: number | undefined;
}

export const DEFAULT_TOLERANCE_SECONDS = 300;

/** Largest accepted Unix time, in seconds. The current time in milliseconds is larger and is therefore refused. */
const MAX_UNIX_SECONDS = 99_999_999_999;

const TENANT_ID = /^[A-Za-z0-9._-]{1,64}$/;
const TIMESTAMP = /^[0-9]{1,12}$/;
const NONCE = /^[A-Za-z0-9\-_.:]{8,128}$/;
const SIGNATURE = /^[0-9a-f]{64}$/;

/**
 * Signs one request with HMAC-SHA256 over `METHOD\nPATH\nTIMESTAMP\nNONCE\nRAW_BODY` and returns its headers.
 * @throws TypeError naming a field that no receiver would accept, such as a time in milliseconds
 */
export function signRequest(input: SignInput): SignatureHeaders {
  const { method, path, body, tenantId, secret, nonce, now } = input;
  checkTenantId(tenantId);
  checkSecret(secret);
  if (typeof now !== 'number' || !(now >= 0 && now <= MAX_UNIX_SECONDS)) {
    const advice = typeof now === 'number' && now > MAX_UNIX_SECONDS ? ': divide milliseconds by 1000' : '';
    throw new TypeError(`now must be Unix time in seconds${advice}`);
  }
  if (typeof nonce !== 'string' || !NONCE.test(nonce)) {
    throw new TypeError('nonce must have 8 to 128 characters of A-Z a-z 0-9 - _ . :');
  }
  if (typeof path !== 'string' || !path.startsWith('/')) {
    throw new TypeError('path must be the request target, which begins with a slash');
  }
  if (!isTextOrBytes(body)) throw new TypeError('body must be the text or bytes that are sent');
  const timestamp = String(Math.floor(now));
  return {
    'X-Tenant-ID': tenantId,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': mac(secret, { method, path, timestamp, nonce, body }).toString('hex'),
  };
}

/**
 * Nothing but whitespace, control and format characters, and the letters that show nothing: Hangul fillers and the empty
 * Braille pattern. NUL bytes are the same HMAC key as no bytes.
 */
const BLANK = /^[\s\p{Cc}\p{Cf}\u115F\u1160\u2800\u3164\uFFA0]*$/u;

/**
 * Whether a value can be a secret: text or bytes that are neither empty nor blank. Anyone who knows the scheme could
 * sign with any other value.
 */
export function isKey(value: unknown): value is string | Uint8Array {
  if (typeof value === 'string') return !BLANK.test(value);
  return value instanceof Uint8Array && !BLANK.test(new TextDecoder().decode(value));
}

/**
 * Checks a secret. The key is the text exactly as it was shown, which never has whitespace around it.
 * @throws TypeError with a message that does not contain the secret
 */
export function checkSecret(secret: unknown, name = 'secret'): asserts secret is string {
  if (typeof secret !== 'string' || !isKey(secret)) {
    const fault = typeof secret === 'string' ? 'empty' : 'no text';
    throw new TypeError(`${name} must be the secret as it was shown at creation, but is ${fault}`);
  }
  if (secret.trim() !== secret) throw new TypeError(`${name} has whitespace at its beginning or end`);
}

/**
 * Checks a tenant id. A line end from a file would otherwise make every call fail before it is sent.
 * @throws TypeError if no tenant can have this id (contract, section 1)
 */
export function checkTenantId(tenantId: unknown): asserts tenantId is string {
  if (typeof tenantId === 'string' && TENANT_ID.test(tenantId)) return;
  const isPadded = typeof tenantId === 'string' && tenantId.trim() !== tenantId;
  const advice = isPadded ? ', but has whitespace at its beginning or end' : '';
  throw new TypeError(`tenantId must have 1 to 64 characters of A-Z a-z 0-9 . _ -${advice}`);
}

/**
 * Verifies the four headers of a request. Compares the signature in constant time and never throws. Does not remember
 * nonces: claim the nonce after an `ok`, not before.
 */
export function verifyPlatformSignature(input: VerifyInput): Verification {
  try {
    return verify(input);
  } catch {
    return { ok: false, reason: 'malformed_header' };
  }
}

function verify(input: VerifyInput): Verification {
  const tenant = headerOf(input.headers, 'x-tenant-id');
  const timestamp = headerOf(input.headers, 'x-timestamp');
  const nonce = headerOf(input.headers, 'x-nonce');
  const signature = headerOf(input.headers, 'x-signature');
  if (!tenant || !timestamp || !nonce || !signature) return { ok: false, reason: 'missing_header' };
  if (!TIMESTAMP.test(timestamp) || !NONCE.test(nonce) || !SIGNATURE.test(signature)) {
    return { ok: false, reason: 'malformed_header' };
  }
  if (tenant !== input.tenantId) return { ok: false, reason: 'tenant_mismatch' };

  const now = Math.floor(input.now ?? Date.now() / 1000);
  const tolerance = input.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  if (!(Number(timestamp) >= now - tolerance)) return { ok: false, reason: 'timestamp_expired' };
  if (!(Number(timestamp) <= now + tolerance)) return { ok: false, reason: 'timestamp_in_future' };

  // A parsed body no longer has the signed bytes.
  if (!isTextOrBytes(input.body)) return { ok: false, reason: 'signature_mismatch' };
  // A plain string would be spread into a list of one-character secrets.
  if (!Array.isArray(input.secrets ?? [])) {
    return { ok: false, reason: 'signature_mismatch' };
  }
  const received = Buffer.from(signature, 'hex');
  const parts = { method: input.method, path: input.path, timestamp, nonce, body: input.body };
  const secrets = [...(input.secrets ?? []), input.secret].filter((secret) => isKey(secret));
  let matches = false;
  for (const secret of secrets) matches = timingSafeEqual(mac(secret, parts), received) || matches;
  return matches ? { ok: true } : { ok: false, reason: 'signature_mismatch' };
}

/**
 * The value of `X-Signature`: 64 lower-case hex digits. It does not check the parts, so that a test can also sign a call
 * that must be refused; use {@link signRequest} for real calls.
 * @throws TypeError if the secret is empty or blank
 */
export function signatureOf(secret: string | Uint8Array, parts: SignedParts): string {
  if (!isKey(secret)) throw new TypeError('secret is empty or blank');
  return mac(secret, parts).toString('hex');
}

function mac(secret: string | Uint8Array, parts: SignedParts): Buffer {
  const { method, path, timestamp, nonce, body } = parts;
  const head = `${method.toUpperCase()}\n${path}\n${timestamp}\n${nonce}\n`;
  return createHmac('sha256', secret).update(head).update(body).digest();
}

export function isTextOrBytes(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}

/** The value of a header; `name` is in lower case. Repeated values are joined with commas, so that they are refused. */
export function headerOf(headers: HeadersLike, name: string): string | undefined {
  if (Array.isArray(headers)) {
    const values = pairs(headers as readonly string[] | readonly (readonly [string, string])[])
      .filter(([candidate]) => candidate.toLowerCase() === name)
      .map(([, value]) => value);
    return values.length === 0 ? undefined : values.join(', ');
  }
  if (typeof (headers as { get?: unknown }).get === 'function') {
    return (headers as { get(name: string): string | null | undefined }).get(name) ?? undefined;
  }
  const plain = headers as PlainHeaders;
  const key = name in plain ? name : Object.keys(plain).find((candidate) => candidate.toLowerCase() === name);
  const value = plain[key ?? name];
  return Array.isArray(value) ? value.join(', ') : (value as string | undefined);
}

function pairs(headers: readonly string[] | readonly (readonly [string, string])[]): [string, string][] {
  if (typeof headers[0] !== 'string') return headers.map(([name, value]) => [name ?? '', value ?? '']);
  const flat = headers as readonly string[];
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : []));
}
