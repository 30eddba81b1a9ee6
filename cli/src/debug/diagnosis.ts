import {
  DEFAULT_TOLERANCE_SECONDS,
  type RejectionReason,
  verifyPlatformSignature,
} from '@croupier/provider-sdk';
import { isUtf8 } from 'node:buffer';
import { encodingOf } from '../reply.js';
import { firstValue, headerMistakes, isNonce, joinedValues, type SentHeaders } from './header-mistakes.js';
import { type GivenSecret, readSecret } from './given-secret.js';
import {
  distinct,
  explain,
  type Explanation,
  pairsOfVariants,
  type Phase,
  type SearchLimits,
  singleVariants,
} from './search.js';
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
import { isLarge, LARGE_BODY_BYTES } from './variants/body-size.js';
import { digestVariants } from './variants/digests.js';
import { headerVariants } from './variants/headers.js';
import { FEW_KEYS, keyCount, keyOrders, MANY_KEYS } from './variants/json-orders.js';
import { keyTypos, keyVariants } from './variants/keys.js';
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
  /** The right signature; undefined while a receiver might still accept it for this or another request. */
  signature: string | undefined;
  /** `signature` is undefined if it contains a right one that a receiver would still accept. */
  sent: { signature: string | undefined };
  /** Empty if the signature is valid. */
  causes: Mistake[];
  /** Other causes that lead to the same signature; empty if there are none. */
  alternatives: Mistake[][];
  difference: Difference | undefined;
  /** Number of ways to sign that were tried. */
  tried: number;
  /** What was not tried, and why; empty if the signature is valid or explained. */
  untried: string[];
}

/** Tries common mistakes of signers to find out why a signature is refused. Pure, except for the clock in `limits`. */
export function diagnose(request: SentRequest, limits: SearchLimits): Diagnosis {
  const { headers, body, claimedBytes } = request;
  const secret = readSecret(request.secret);
  const right = rightSigning(request, secret.issued);
  const sent = firstValue(headers, 'x-signature');
  const verification = verifyPlatformSignature({ ...request, tenantId: request.tenantId ?? right.tenant });
  const canonical = signedBytes(right);
  const signature = digestOf(right).toString('hex');
  const withGiven = digestOf({ ...right, key: Buffer.from(secret.given) }).toString('hex');
  const shown = isExpired(request, right)
    ? { signature, sent: { signature: sent } }
    : withheld(sent, [signature, withGiven]);
  const facts = { canonical, ...shown };
  if (verification.ok && secret.mistakes.length === 0) {
    return {
      ...facts,
      reason: undefined,
      causes: [],
      alternatives: [],
      difference: undefined,
      tried: 1,
      untried: [],
    };
  }
  const ofHeaders = headerMistakes(request);
  const { explanation, tried, untried } = search(right, request, secret, limits);
  const signed = claimedBytes ?? (explanation && signedBytes(explanation.signing));
  const explained = explanation?.mistakes ?? unexplained(request, sent, canonical, ofHeaders, untried);
  return {
    ...facts,
    reason: verification.ok ? 'signature_mismatch' : verification.reason,
    causes: [...ofHeaders, ...ofGivenSecret(secret, explanation), ...explained],
    alternatives: (explanation?.alternatives ?? []).map((each) => [...each]),
    difference: signed && differenceOf(canonical, signed, body.length),
    tried,
    untried: [...untried],
  };
}

/** What is around the given secret, and whether the signer's key has it, too. */
function ofGivenSecret(secret: GivenSecret, explanation: Explanation | undefined): Mistake[] {
  const isSignedWith = (text: string) => explanation?.signing.key.equals(Buffer.from(text)) === true;
  const advice = isSignedWith(secret.given)
    ? ' The request was signed with the same text, so the platform refuses it: remove this from the secret in both places.'
    : isSignedWith(secret.issued)
      ? ' The request was signed with the issued secret. Correct CROUPIER_SECRET here, and at the receiver if it has the same.'
      : '';
  return secret.mistakes.map(({ code, explanation: text }) => ({ code, explanation: text + advice }));
}

/**
 * Whether every receiver refuses a request with this signed text because its timestamp is too old. The request may come
 * from a stranger who chose its parts to get a signature that he can use. A line break in the method, the path or the
 * nonce could make the text that of another request, with another timestamp. The clocks of this machine and of a
 * receiver may differ by another tolerance.
 */
function isExpired(
  { diagnosedAt, toleranceSeconds = 0 }: SentRequest,
  { method, path, timestamp, nonce }: Signing,
): boolean {
  if (/\p{Cc}/u.test(method + path) || !isNonce(nonce)) return false;
  const tolerance = Math.max(toleranceSeconds, DEFAULT_TOLERANCE_SECONDS);
  return /^\d{1,12}$/.test(timestamp) && Number(timestamp) < diagnosedAt - 2 * tolerance;
}

/** The sent signature may be the right one, with or without a prefix. */
function withheld(sent: string, right: readonly string[]): Pick<Diagnosis, 'signature' | 'sent'> {
  const isRight = right.some((each) => sent.toLowerCase().includes(each));
  return { signature: undefined, sent: { signature: isRight ? undefined : sent } };
}

interface Found {
  explanation: Explanation | undefined;
  tried: number;
  untried: readonly string[];
}

/** How the request should have been signed. */
function rightSigning({ method, path, headers, body }: SentRequest, secret: string): Signing {
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

/** Tries mistakes until some explain the text of `X-Signature`. */
function search(right: Signing, request: SentRequest, secret: GivenSecret, limits: SearchLimits): Found {
  const sent = firstValue(request.headers, 'x-signature');
  // If the signature, timestamp or nonce is missing, there is nothing to search for.
  if (!sent || !right.timestamp || !right.nonce) return { explanation: undefined, tried: 0, untried: [] };
  const readings = readSignature(sent);
  if (lacksZeros(sent, digestOf(right))) {
    const explanation = 'X-Signature lacks zeros: write each byte with two hex digits, 64 in all.';
    const mistakes: Mistake[] = [{ code: 'signature-zeros', explanation }];
    const reading = { bytes: digestOf(right), mistakes };
    return { explanation: { signing: right, mistakes, alternatives: [], reading }, tried: 1, untried: [] };
  }
  if (readings.length === 0) return { explanation: undefined, tried: 0, untried: [] };
  const result = explain(right, phasesOf(right, request, secret), readings, limits);
  const untried = [...result.untried, ...untriable(request)];
  const { explanation, tried } = result;
  if (!explanation) return { explanation, tried, untried };
  const spelt = (mistakes: readonly Mistake[]) => [...spellingOf(explanation, mistakes), ...mistakes];
  const alternatives = explanation.alternatives.map(spelt);
  return {
    explanation: { ...explanation, mistakes: spelt(explanation.mistakes), alternatives },
    tried,
    untried: [],
  };
}

/** Another hash algorithm explains a wrong length of the signature, so the length is not reported as well. */
function spellingOf({ reading }: Explanation, mistakes: readonly Mistake[]): Mistake[] {
  const isOtherAlgorithm = mistakes.some(({ code }) => code === 'digest-algorithm');
  return reading.mistakes.filter(({ code }) => code !== 'signature-length' || !isOtherAlgorithm);
}

/** The parts of the search, the most promising ones first. */
function phasesOf(right: Signing, request: SentRequest, secret: GivenSecret): Phase[] {
  const dimensions = dimensionsOf(right, request, secret);
  const keys = keyCount(right.body);
  const orders: Phase[] = [
    { name: `every order of the ${keys} keys of the JSON`, candidates: keyOrders(right.body) },
  ];
  return [
    { name: 'single mistakes', candidates: singleVariants(dimensions) },
    { name: 'pairs of common mistakes', candidates: pairsOfVariants(dimensions, [1, 1]) },
    {
      name: 'two mistakes in the path or in the key',
      candidates: pairsWithin(right, request, secret),
    },
    ...(keys <= FEW_KEYS ? orders : []),
    { name: 'pairs of a common and a rare mistake', candidates: pairsOfVariants(dimensions, [1, 2]) },
    ...(keys > FEW_KEYS && keys <= MANY_KEYS ? orders : []),
    { name: 'pairs of rare mistakes', candidates: pairsOfVariants(dimensions, [2, 2]) },
  ];
}

/** The variants of each kind of mistake, specific kinds before general ones. */
function dimensionsOf(right: Signing, { headers }: SentRequest, secret: GivenSecret): (readonly Variant[])[] {
  const given = Buffer.from(secret.given);
  const signedWithGiven: Variant[] = [{ rank: 1, mistakes: [], change: { key: given } }];
  const keys = [...keyVariants(right.key.toString(), right.tenant), ...keyTypos(right.key.toString())].filter(
    ({ change }) => !change.key?.equals(given),
  );
  return [
    ...[
      pathVariants(right.path, (name) => joinedValues(headers, name)),
      bodyVariants(right.body),
      ...headerVariants(right, headers),
      [...signedWithGiven, ...keys],
    ].map((variants) => distinct(variants, right)),
    digestVariants(),
    layoutVariants(right.body.length === 0),
  ];
}

/** Two common mistakes in the same part, one after the other. */
function* pairsWithin(right: Signing, { headers }: SentRequest, secret: GivenSecret): Iterable<Variant[]> {
  const common = (variants: readonly Variant[]) => variants.filter(({ rank }) => rank === 1);
  const paths = (path: string) => common(pathVariants(path, (name) => joinedValues(headers, name)));
  for (const first of paths(right.path)) {
    for (const second of paths(first.change.path ?? '')) yield [first, second];
  }
  const keys = (key: Buffer) => common(keyVariants(key.toString(), right.tenant));
  for (const first of keys(Buffer.from(secret.issued))) {
    const key = first.change.key ?? right.key;
    // A key that is not text has no other spellings.
    if (isUtf8(key)) for (const second of keys(key)) yield [first, second];
  }
}

/** What cannot be tried with this request. */
function untriable({ headers, body }: SentRequest): string[] {
  return [
    ...(firstValue(headers, 'host') === ''
      ? ["addresses with a host, because there is no header Host (add --header 'Host: …')"]
      : []),
    ...(isLarge(body) ? [`other spellings of a body of more than ${LARGE_BODY_BYTES / 1024} KiB`] : []),
  ];
}

function unexplained(
  request: SentRequest,
  signature: string,
  canonical: Buffer,
  ofHeaders: readonly Mistake[],
  untried: readonly string[],
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
  const limits = untried.length === 0 ? '' : ` Not tried: ${untried.join('; ')}.`;
  const explanation =
    'No mistake that was tried explains the signature. Most often another secret was used, the body was changed on its ' +
    'way, or a nonce or timestamp was signed that was not sent. Write the bytes that you sign to a file and name it ' +
    `with --signed-file.${limits}`;
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
