import { describeReply, type Reply } from '../reply.js';
import { Unmet } from './outcome.js';
import type { Deviation, SignedCalls } from './signed-calls.js';
import { probe, type Target } from './target.js';

/**
 * A mistake that the server may make. A server with this mistake refuses correct calls, but accepts a call with the
 * deviation.
 */
interface Suspicion {
  /** The part of the call that the server reads differently. */
  differs: 'tenant' | 'secret' | 'path' | 'body' | 'timestamp' | 'signature';
  deviation: Deviation;
  hint: string;
}

const CHECKLIST =
  'Check in this order: CROUPIER_SECRET is the secret exactly as it was shown at creation; --tenant is the id that ' +
  'your server expects in X-Tenant-ID; the signed path is the whole request target, with the prefix that a proxy or ' +
  'a mounted router strips; the body is verified as raw bytes, before a body parser. Log the reason of each refusal: a ' +
  "provider's createCallbackHandler passes it to onRefused.";

/** The tenant ids of the documents' examples, which a server may still have in its settings. */
const EXAMPLE_TENANTS = ['my-provider', 'sandbox-provider', 'sandbox-operator'];

/**
 * Explains why a correctly signed call was refused. First it repeats the call. If this is refused as a wrong signature is,
 * and the clock is right, it calls the server once for each possible mistake, signed as a server with that mistake expects
 * it, until a call is accepted.
 */
export async function diagnose<Subject>(target: Target<Subject>, subject: Subject): Promise<string> {
  try {
    return await causeOf(target, subject);
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    return `The cause was not found: a repetition of the call was to find it, but received ${error.received}.`;
  }
}

/** @throws Unmet if a call gets no answer */
async function causeOf<Subject>(target: Target<Subject>, subject: Subject): Promise<string> {
  const calls = target.calls(subject);
  const repeated = await probe(target, subject);
  if (repeated.status === 200)
    return 'The call was accepted when it was repeated, so the signature is not the cause. Look for a temporary failure, such as a start or an overload.';
  if (repeated.status > 200 && repeated.status < 300) return 'The platform takes only a 200 as an answer.';
  const path = calls.pathOf(target.probe.route);
  if (repeated.status === 404 && repeated.json)
    return (
      `The call was repeated and answered with ${describeReply(repeated)}. If your server serves POST ${path}, check ` +
      `${target.identifiers}; otherwise check the address.`
    );
  if (repeated.status === 404 || repeated.status === 405)
    return `Nothing is served at POST ${path}: check the address and the path that your server or proxy serves.`;
  if (!isSignatureRefusal(target, repeated))
    return (
      `The call was repeated and answered with ${describeReply(repeated)}. The signature may not be the cause: ` +
      'look for this answer in your server. If it does refuse the signature, answer 401, so that this command can look for the mistake.'
    );
  const skewSeconds =
    repeated.dateMs === undefined ? 0 : Math.round((repeated.dateMs - calls.nowMs()) / 1000);
  if (Math.abs(skewSeconds) > 240) {
    const direction = skewSeconds > 0 ? 'ahead of' : 'behind';
    return `The server's clock is ${Math.abs(skewSeconds)} s ${direction} this machine's: the tolerance is 300 s.`;
  }
  const candidates = suspicions(calls, target.probe.route);
  for (const { differs, deviation, hint } of candidates) {
    const reply = await probe(target, subject, deviation);
    if (reply.status === 200) return `${hint} So the ${differs} differs.`;
  }
  const cause =
    repeated.status === 400
      ? 'The signature may not be the cause: look for this answer in your server. '
      : '';
  return `${candidates.length} calls with another tenant, secret, path or body were refused, too. ${cause}${CHECKLIST}`;
}

/**
 * Whether the server may have refused the signature. A wallet may do so with any 4xx, but other statuses have many causes.
 */
function isSignatureRefusal(
  { refusal: { least, most } }: Pick<Target<unknown>, 'refusal'>,
  { status }: Reply,
): boolean {
  return [400, 401, 403].includes(status) && status >= least && status <= most;
}

function suspicions(calls: SignedCalls, route: string): Suspicion[] {
  const path = calls.pathOf(route);
  return [
    ...tenants(calls.endpoint.tenantId),
    ...paths(path, calls.endpoint.baseUrl),
    ...secrets(calls.endpoint.secret),
    ...bodies(),
    ...spellings(calls),
  ];
}

function tenants(tenantId: string): Suspicion[] {
  const others = new Set([
    tenantId.toLowerCase(),
    tenantId.toUpperCase(),
    tenantId.trim(),
    ...EXAMPLE_TENANTS,
  ]);
  others.delete(tenantId);
  return [...others].map((other) => ({
    differs: 'tenant' as const,
    deviation: { tenantId: other },
    hint: `Your server expects X-Tenant-ID ${other}, but ${tenantId} was sent. Check --tenant and your server's settings.`,
  }));
}

function paths(path: string, { origin }: URL): Suspicion[] {
  const shorter = suffixes(path).map((signedPath) => ({
    differs: 'path' as const,
    deviation: { signedPath },
    hint:
      `Your server verifies the path ${signedPath}, but ${path} was signed: a proxy or a mounted ` +
      "router strips the prefix. Verify the whole request target, with the prefix: a provider's " +
      'createCallbackHandler takes it as strippedPrefix.',
  }));
  const others = [origin + path, path.slice(1), `${path}/`].map((signedPath) => ({
    differs: 'path' as const,
    deviation: { signedPath },
    hint:
      `Your server verifies the path ${signedPath}, but ${path} was signed. Verify the request ` +
      'target exactly as it stands on the request line.',
  }));
  return [...shorter, ...others];
}

function secrets(secret: string): Suspicion[] {
  const keys: [Buffer, string][] = [
    [Buffer.from(secret.trim()), 'without the whitespace that CROUPIER_SECRET has around it'],
    [Buffer.from(`${secret}\n`), 'with a newline at its end'],
    [Buffer.from(secret, 'base64'), 'decoded as base64: its text is the key'],
    [Buffer.from(secret, 'hex'), 'decoded as hexadecimal: its text is the key'],
    [
      Buffer.from(secret.replace(/^(["'])(.*)\1$/s, '$2')),
      'without the quotes that CROUPIER_SECRET has around it',
    ],
  ];
  return keys
    .filter(([key]) => key.length > 0 && !key.equals(Buffer.from(secret)))
    .map(([key, how]) => ({
      differs: 'secret' as const,
      deviation: { secret: key },
      hint: `Your server verifies with the secret ${how}.`,
    }));
}

function bodies(): Suspicion[] {
  const consumed = ['', '{}', '[object Object]', 'undefined'].map((signedBody) => ({
    differs: 'body' as const,
    deviation: { signedBody },
    hint:
      `Your server verifies the body ${JSON.stringify(signedBody)}: a body parser consumed the raw ` +
      'bytes. Verify the bytes as they were received, before the body parser runs.',
  }));
  const rewritten = Object.entries(REWRITINGS).map(([how, signedBody]) => ({
    differs: 'body' as const,
    deviation: { signedBody },
    hint: `Your server verifies JSON that it has written again, ${how}. Verify the bytes as they were received.`,
  }));
  return [...consumed, ...rewritten];
}

const REWRITINGS: Record<string, (body: string) => string> = {
  'with spaces after commas and colons': (body) =>
    JSON.stringify(JSON.parse(body), null, 1)
      .replace(/\n\s*/g, ' ')
      .replace(/^\{ /, '{')
      .replace(/ \}$/, '}'),
  'indented by two spaces': (body) => JSON.stringify(JSON.parse(body), null, 2),
  'with its keys in alphabetical order': (body) => {
    const fields = Object.entries(JSON.parse(body) as object).sort(([one], [other]) =>
      one < other ? -1 : 1,
    );
    return JSON.stringify(Object.fromEntries(fields));
  },
  'with a newline at its end': (body) => `${body}\n`,
};

/** The right signature and timestamp, written in another way. */
function spellings(calls: SignedCalls): Suspicion[] {
  const spelled = (write: (hex: string) => string): Deviation => ({
    headers: (signed) => ({ ...signed, 'X-Signature': write(signed['X-Signature'] ?? '') }),
  });
  return [
    {
      differs: 'timestamp',
      deviation: { timestamp: `${calls.nowSeconds()}000` },
      hint: 'Your server expects X-Timestamp in milliseconds, but it is in seconds.',
    },
    {
      differs: 'signature',
      deviation: spelled((hex) => Buffer.from(hex, 'hex').toString('base64')),
      hint: 'Your server expects X-Signature in base64, but it is hexadecimal.',
    },
    {
      differs: 'signature',
      deviation: spelled((hex) => hex.toUpperCase()),
      hint: 'Your server expects X-Signature in upper case, but it is in lower case.',
    },
    {
      differs: 'signature',
      deviation: spelled((hex) => `sha256=${hex}`),
      hint: 'Your server expects a prefix such as sha256= in X-Signature, but there is none.',
    },
  ];
}

/** The path without its first segment, without its first two, and so on. */
function suffixes(path: string): string[] {
  const segments = path.split('/').slice(1);
  return segments.slice(1).map((_, index) => `/${segments.slice(index + 1).join('/')}`);
}
