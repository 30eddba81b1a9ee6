import {
  canonicalHead,
  DEFAULT_TOLERANCE_SECONDS,
  headerOf,
  type RejectionReason,
  signatureOf,
  verifyPlatformSignature,
} from '../../signature.js';
import { type Attempt, digestOf, mistakes, RIGHT_ORDER, signedBytes } from './attempts.js';

/** A request as it was sent, and whom it was for. */
export interface SentRequest {
  method: string;
  path: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  secret: string;
  /** What `X-Tenant-ID` should carry; undefined where that is not to be judged. */
  tenantId?: string | undefined;
  /** Unix time in seconds. */
  now: number;
  toleranceSeconds?: number | undefined;
  /** The bytes that the sender says it signed. */
  claimedBytes?: Buffer | undefined;
}

export interface Difference {
  /** From 0. */
  offset: number;
  /** As in `body, byte 12`. */
  place: string;
  /** The bytes from there on, of what should have been signed and of what was; empty at an end. */
  right: Buffer;
  wrong: Buffer;
}

export interface Diagnosis {
  reason: RejectionReason | undefined;
  /** What should have been signed. */
  canonical: Buffer;
  signature: string;
  sent: { tenantId: string; timestamp: string; nonce: string; signature: string };
  /** The likeliest first; empty where all is well. */
  causes: string[];
  difference: Difference | undefined;
}

const HEADERS = ['X-Tenant-ID', 'X-Timestamp', 'X-Nonce', 'X-Signature'] as const;

/** Finds out why a signature is refused, by trying the mistakes that signers make. Pure. */
export function diagnose(request: SentRequest): Diagnosis {
  const { method, path, headers, body, secret } = request;
  const of = (name: string) => headerOf(headers, name) ?? '';
  const timestamp = of('x-timestamp');
  const nonce = of('x-nonce');
  const sent = { tenantId: of('x-tenant-id'), timestamp, nonce, signature: of('x-signature') };
  const parts = { method, path, timestamp, nonce, body };
  const verification = verifyPlatformSignature({ ...request, tenantId: request.tenantId ?? sent.tenantId });
  const reason = verification.ok ? undefined : verification.reason;
  const canonical = Buffer.concat([Buffer.from(canonicalHead(parts)), body]);
  const found = reason === undefined ? undefined : mistakenFor(request, sent);
  const signed = request.claimedBytes ?? (found?.attempt ? signedBytes(found.attempt) : undefined);
  return {
    reason,
    canonical,
    signature: signatureOf(secret, parts),
    sent,
    causes: reason === undefined ? [] : causes(request, sent, reason, found, canonical),
    difference: signed && differenceOf(canonical, signed, body.length),
  };
}

interface Found {
  causes: string[];
  attempt?: Attempt;
}

/** The least mistaken way to sign that gives the signature which was sent. */
function mistakenFor(
  request: SentRequest,
  { timestamp, nonce, signature }: Diagnosis['sent'],
): Found | undefined {
  const digest = digestIn(signature);
  if (!digest) return undefined;
  const right: Attempt = {
    method: request.method.toUpperCase(),
    path: request.path,
    timestamp,
    nonce,
    body: request.body,
    key: Buffer.from(request.secret),
    separator: '\n',
    order: RIGHT_ORDER,
    algorithm: 'sha256',
  };
  const fits = (attempt: Attempt) => digestOf(attempt).equals(digest);
  if (fits(right)) return { causes: [] };
  const groups = mistakes(right, headerOf(request.headers, 'host'));
  for (const group of groups) {
    for (const { cause, attempt } of group(right)) if (fits(attempt)) return { causes: [cause], attempt };
  }
  for (const [index, first] of groups.entries()) {
    for (const one of first(right)) {
      for (const second of groups.slice(index + 1)) {
        for (const { cause, attempt } of second(one.attempt)) {
          if (fits(attempt)) return { causes: [one.cause, cause], attempt };
        }
      }
    }
  }
  return undefined;
}

/** The bytes of a signature in whatever spelling. */
function digestIn(signature: string): Buffer | undefined {
  const text = signature.replace(/^[a-z0-9-]+=(?=.)/i, '').trim();
  if (/^([0-9a-f]{2}){20,64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{27,}={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  return undefined;
}

function causes(
  request: SentRequest,
  sent: Diagnosis['sent'],
  reason: RejectionReason,
  found: Found | undefined,
  canonical: Buffer,
): string[] {
  const ofHeaders = reason === 'signature_mismatch' ? [] : headerCauses(request, sent, reason);
  if (found) return [...ofHeaders, ...found.causes];
  if (reason === 'missing_header') return ofHeaders;
  if (request.claimedBytes?.equals(canonical)) {
    return [...ofHeaders, 'the right bytes were signed with another key: compare the secret, sign by sign'];
  }
  return [
    ...ofHeaders,
    'no mistake that is known explains the signature: most often it is another secret, or the body changed on its way. ' +
      'Write the bytes that you sign to a file and name it with --signed-file',
  ];
}

function headerCauses(request: SentRequest, sent: Diagnosis['sent'], reason: RejectionReason): string[] {
  const { timestamp, nonce, signature, tenantId } = sent;
  switch (reason) {
    case 'missing_header': {
      const missing = HEADERS.filter((name) => !headerOf(request.headers, name.toLowerCase()));
      return [`${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`];
    }
    case 'malformed_header': {
      const said: string[] = [];
      if (/^\d{13}$/.test(timestamp)) said.push('X-Timestamp is in milliseconds: it must be in seconds');
      else if (!/^\d{1,12}$/.test(timestamp))
        said.push('X-Timestamp must be Unix time in seconds, decimal digits alone');
      if (!/^[A-Za-z0-9\-_.:]{8,128}$/.test(nonce)) {
        said.push('X-Nonce must have 8 to 128 signs of A-Z a-z 0-9 - _ . :');
      }
      if (/^[0-9a-f]{64}$/i.test(signature) && !/^[0-9a-f]{64}$/.test(signature)) {
        said.push('X-Signature is in upper case: it must be in lower case');
      } else if (!/^[0-9a-f]{64}$/.test(signature)) {
        said.push('X-Signature must be 64 lower-case hex digits, without a prefix, not base64');
      }
      return said;
    }
    case 'tenant_mismatch':
      return [`X-Tenant-ID is "${tenantId}", and the receiver is "${request.tenantId ?? ''}"`];
    default: {
      const seconds = Number(timestamp) - request.now;
      const tolerance = request.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
      const side = seconds < 0 ? 'behind' : 'ahead';
      const hours =
        seconds !== 0 && Math.abs(seconds % 3600) < 60 ? ', a time zone perhaps: Unix time has none' : '';
      return [`X-Timestamp is ${Math.abs(seconds)} s ${side}, and ${tolerance} s are allowed${hours}`];
    }
  }
}

function differenceOf(right: Buffer, wrong: Buffer, bodyLength: number): Difference | undefined {
  if (right.equals(wrong)) return undefined;
  let offset = 0;
  while (offset < right.length && right[offset] === wrong[offset]) offset += 1;
  return {
    offset,
    place: placeOf(right, offset, bodyLength),
    right: right.subarray(offset, offset + 24),
    wrong: wrong.subarray(offset, offset + 24),
  };
}

function placeOf(canonical: Buffer, offset: number, bodyLength: number): string {
  const bodyStart = canonical.length - bodyLength;
  if (offset >= bodyStart) return `body, byte ${offset - bodyStart}`;
  const line = canonical.subarray(0, offset).toString('latin1').split('\n').length - 1;
  const start = canonical.subarray(0, offset).lastIndexOf('\n') + 1;
  return `${['method', 'path', 'timestamp', 'nonce'][line] ?? 'body'}, byte ${offset - start}`;
}
