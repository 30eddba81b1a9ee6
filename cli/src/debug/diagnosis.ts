import {
  DEFAULT_TOLERANCE_SECONDS,
  type RejectionReason,
  verifyPlatformSignature,
} from '@croupier/provider-sdk';
import { isUtf8 } from 'node:buffer';
import { encodingOf } from '../reply.js';
import { firstValue, headerMistakes, joinedValues, type SentHeaders } from './header-mistakes.js';
import { explain, type Explanation } from './search.js';
import { lacksZeros, readSignature } from './signature-spelling.js';
import {
  digestOf,
  type Mistake,
  RIGHT_DIGEST,
  RIGHT_LAYOUT,
  signedBytes,
  type Signing,
  type Variant,
} from './signing.js';
import { bodyVariants } from './variants/bodies.js';
import { digestVariants } from './variants/digests.js';
import { headerVariants } from './variants/headers.js';
import { keyVariants } from './variants/keys.js';
import { layoutVariants } from './variants/layouts.js';
import { pathVariants } from './variants/paths.js';

/** A request as it was sent, and what its receiver expects. */
export interface SentRequest extends SentHeaders {
  method: string;
  /** The request target as it stands on the request line. */
  path: string;
  body: Buffer;
  secret: string;
  /** The time of the diagnosis, in Unix seconds; `now` is when the request arrived. */
  diagnosedAt: number;
  /** The bytes that the sender claims to have signed. */
  claimedBytes?: Buffer | undefined;
}

interface Difference {
  /** The position of the first byte that differs, from 0. */
  offset: number;
  /** The same position, counted within one signed part: `body, byte 12`. */
  place: string;
  /**
   * At most 24 bytes from the offset on. `right` is from the text that should have been signed, `wrong` from the text
   * that was signed. One of them is empty if its text ends at the offset.
   */
  right: Buffer;
  wrong: Buffer;
}

export interface Diagnosis {
  reason: RejectionReason | undefined;
  /** What should have been signed. */
  canonical: Buffer;
  /** The right signature; undefined while a receiver would still accept it. */
  signature: string | undefined;
  /** `signature` is undefined if it contains a right one that a receiver would still accept. */
  sent: { signature: string | undefined };
  /** Empty if the signature is valid. */
  causes: Mistake[];
  difference: Difference | undefined;
  /** Number of ways to sign that were tried. */
  tried: number;
}

/** Tries common mistakes of signers to find out why a signature is refused. Pure. */
export function diagnose(request: SentRequest): Diagnosis {
  const { headers, body, claimedBytes } = request;
  const right = rightSigning(request);
  const sent = firstValue(headers, 'x-signature');
  const verification = verifyPlatformSignature({ ...request, tenantId: request.tenantId ?? right.tenant });
  const canonical = signedBytes(right);
  const signature = digestOf(right).toString('hex');
  const shown = isExpired(request, right.timestamp)
    ? { signature, sent: { signature: sent } }
    : withheld(sent, signature);
  const facts = { canonical, ...shown };
  if (verification.ok) {
    return { ...facts, reason: undefined, causes: [], difference: undefined, tried: 1 };
  }
  const ofHeaders = headerMistakes(request);
  const { explanation, tried } = search(right, request, sent);
  const signed = claimedBytes ?? (explanation && signedBytes(explanation.signing));
  return {
    ...facts,
    reason: verification.reason,
    causes: [...ofHeaders, ...(explanation?.mistakes ?? unexplained(request, sent, canonical, ofHeaders))],
    difference: signed && differenceOf(canonical, signed, body.length),
    tried,
  };
}

/**
 * Whether every receiver refuses this timestamp as too old. The request may come from a stranger who chose its
 * timestamp and nonce to get a signature that he can use. The clocks of this machine and of a receiver may differ by
 * another tolerance.
 */
function isExpired({ diagnosedAt, toleranceSeconds = 0 }: SentRequest, timestamp: string): boolean {
  const tolerance = Math.max(toleranceSeconds, DEFAULT_TOLERANCE_SECONDS);
  return /^\d{1,12}$/.test(timestamp) && Number(timestamp) < diagnosedAt - 2 * tolerance;
}

/** The sent signature may be the right one, with or without a prefix. */
function withheld(sent: string, right: string): Pick<Diagnosis, 'signature' | 'sent'> {
  const isRight = sent.toLowerCase().includes(right);
  return { signature: undefined, sent: { signature: isRight ? undefined : sent } };
}

interface Found {
  explanation: Explanation | undefined;
  tried: number;
}

/** How the request should have been signed. */
function rightSigning({ method, path, headers, body, secret }: SentRequest): Signing {
  return {
    method: method.toUpperCase(),
    path,
    timestamp: firstValue(headers, 'x-timestamp'),
    nonce: firstValue(headers, 'x-nonce'),
    tenant: firstValue(headers, 'x-tenant-id'),
    body,
    key: Buffer.from(secret),
    layout: RIGHT_LAYOUT,
    digest: RIGHT_DIGEST,
  };
}

/**
 * Tries each way to read the text of `X-Signature`, such as hex or base64, until known mistakes explain the result.
 * @param sent the text of `X-Signature`
 */
function search(right: Signing, request: SentRequest, sent: string): Found {
  const readings = readSignature(sent);
  // If the signature, timestamp or nonce is missing, there is nothing to search for.
  if (!sent || !right.timestamp || !right.nonce) return { explanation: undefined, tried: 0 };
  if (lacksZeros(sent, digestOf(right))) {
    const explanation = 'X-Signature lacks zeros: write each byte with two hex digits, 64 in all.';
    return {
      explanation: { signing: right, mistakes: [{ code: 'signature-zeros', explanation }] },
      tried: 1,
    };
  }
  const dimensions = readings.length > 0 ? dimensionsOf(right, request) : [];
  let tried = 0;
  for (const reading of readings) {
    const result = explain(right, dimensions, reading.bytes);
    tried += result.tried;
    if (!result.explanation) continue;
    const { mistakes, signing } = result.explanation;
    const isOtherAlgorithm = mistakes.some(({ code }) => code === 'digest-algorithm');
    // Another hash algorithm explains a wrong length, so the length is not reported as well.
    const spelling = reading.mistakes.filter(({ code }) => code !== 'signature-length' || !isOtherAlgorithm);
    return { explanation: { signing, mistakes: [...spelling, ...mistakes] }, tried };
  }
  return { explanation: undefined, tried };
}

/** The variants of each kind of mistake, specific kinds before general ones. */
function dimensionsOf(right: Signing, { headers, secret }: SentRequest): (readonly Variant[])[] {
  return [
    pathVariants(right.path, (name) => joinedValues(headers, name)),
    bodyVariants(right.body),
    ...headerVariants(right, headers),
    keyVariants(secret, right.tenant),
    digestVariants(),
    layoutVariants(),
  ];
}

function unexplained(
  request: SentRequest,
  signature: string,
  canonical: Buffer,
  ofHeaders: readonly Mistake[],
): Mistake[] {
  if (signature === '' || ofHeaders.some(({ code }) => code === 'header-missing')) return [];
  if (readSignature(signature).length === 0) {
    const explanation = `X-Signature is "${signature}". Send the HMAC as 64 lower-case hex digits.`;
    return [{ code: 'signature-malformed', explanation }];
  }
  if (request.claimedBytes?.equals(canonical)) {
    const explanation =
      'The right bytes were signed with another key. Compare the secret character by character.';
    return [{ code: 'key-other', explanation }];
  }
  if (isCompressed(request)) {
    const explanation =
      'The body was sent compressed. The platform takes no compressed bodies: sign and send the plain one.';
    return [{ code: 'body-compressed', explanation }];
  }
  const explanation =
    'No known mistake explains the signature. Most often another secret was used, or the body was changed on its way. ' +
    'Write the bytes that you sign to a file and name it with --signed-file.';
  return [{ code: 'unknown', explanation }];
}

/** Recognises compression by its marks. The body may be a stranger's, so it is not decompressed. */
function isCompressed({ headers, body }: SentRequest): boolean {
  const encoding = encodingOf(firstValue(headers, 'content-encoding'));
  const isGzip = body.subarray(0, 3).equals(Buffer.from([0x1f, 0x8b, 0x08]));
  // RFC 1950: the method is 8, and the first two bytes are a multiple of 31. Text may begin like this, too.
  const isZlib = body.length > 2 && (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
  return encoding !== 'identity' || isGzip || (isZlib && !isUtf8(body));
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
