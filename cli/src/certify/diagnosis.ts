import type { Reply } from '../reply.js';
import type { Deviation, SignedCalls } from './signed-calls.js';
import { probe, type Target } from './target.js';

/**
 * A mistake that the server may make. A server with this mistake refuses correct calls, but accepts a call with the
 * deviation.
 */
interface Suspicion {
  deviation: Deviation;
  hint: string;
}

const CHECKLIST =
  'Check in this order: CROUPIER_SECRET is the secret exactly as it was shown at creation; --tenant is the id that ' +
  'your server expects in X-Tenant-ID; the signed path is the whole request target, with the prefix that a proxy or ' +
  'a mounted router strips; the body is verified as raw bytes, before a body parser.';

/**
 * Explains why a correctly signed call was refused. If neither the address nor the clock is wrong, it calls the server
 * once for each possible mistake, signed as a server with that mistake expects it, until a call is accepted.
 */
export async function diagnose<Subject>(
  target: Target<Subject>,
  subject: Subject,
  { status, dateMs }: Reply,
): Promise<string> {
  const calls = target.calls(subject);
  if (status === 404 || status === 405) {
    return `Nothing is served at POST ${calls.pathOf(target.probe.route)}: check the address and the path that your server or proxy serves.`;
  }
  const skewSeconds = dateMs === undefined ? 0 : Math.round((dateMs - calls.nowMs()) / 1000);
  if (Math.abs(skewSeconds) > 240) {
    const direction = skewSeconds > 0 ? 'ahead of' : 'behind';
    return `The server's clock is ${Math.abs(skewSeconds)} s ${direction} this machine's: the tolerance is 300 s.`;
  }
  for (const { deviation, hint } of suspicions(calls, target.probe.route)) {
    const reply = await probe(target, subject, deviation);
    if (reply.status === 200) return hint;
  }
  return CHECKLIST;
}

function suspicions(calls: SignedCalls, route: string): Suspicion[] {
  const { secret } = calls.endpoint;
  const path = calls.pathOf(route);
  const shorter = suffixes(path).map((signedPath) => ({
    deviation: { signedPath },
    hint:
      `Your server verifies the path ${signedPath}, but ${path} was signed: a proxy or a mounted router strips the ` +
      'prefix. Verify the whole request target (strippedPrefix of createCallbackHandler).',
  }));
  const keys: [Buffer, string][] = [
    [Buffer.from(secret.trim()), 'without the whitespace that CROUPIER_SECRET has around it'],
    [Buffer.from(`${secret}\n`), 'with a newline at its end'],
    [Buffer.from(secret, 'base64'), 'decoded as base64: its text is the key'],
    [Buffer.from(secret, 'hex'), 'decoded as hexadecimal: its text is the key'],
  ];
  const otherKeys = keys
    .filter(([key]) => key.length > 0 && !key.equals(Buffer.from(secret)))
    .map(([key, how]) => ({
      deviation: { secret: key },
      hint: `Your server verifies with the secret ${how}.`,
    }));
  const bodies = ['', '{}', '[object Object]', 'undefined'].map((signedBody) => ({
    deviation: { signedBody },
    hint:
      `Your server verifies the body ${JSON.stringify(signedBody)}: a body parser consumed the raw bytes. Verify the ` +
      'bytes as they were received, before the body parser runs.',
  }));
  return [...shorter, ...otherKeys, ...bodies];
}

/** The path without its first segment, without its first two, and so on. */
function suffixes(path: string): string[] {
  const segments = path.split('/').slice(1);
  return segments.slice(1).map((_, index) => `/${segments.slice(index + 1).join('/')}`);
}
