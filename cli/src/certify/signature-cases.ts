import { diagnose } from './diagnosis.js';
import { type Case, Unmet } from './outcome.js';
import { type Deviation, repeatable, type SignedCalls } from './signed-calls.js';
import { expectOk, expectRefused, otherProbe, probe, type Target } from './target.js';

/** Offsets one minute beyond and one minute within the tolerance of 300 s, since the clocks may differ a little. */
const BEYOND_SECONDS = 360;
const WITHIN_SECONDS = 240;
const AT_ONCE = 10;

const ACCEPTS = 'A server accepts every correctly signed call, however the names of its headers are spelled.';
const REFUSES =
  'A server refuses a call that lacks one of the four headers, or whose X-Signature is not the signature of the call.';
const TENANT = 'A server refuses a call whose X-Tenant-ID is not exactly its own id.';
const TIME =
  'A server accepts a timestamp that differs from its clock by up to 300 seconds, and refuses any other.';
const BYTES =
  'The signature is verified over the bytes of the body as they were received, not over JSON that was parsed and written again.';
const NONCE_ONCE =
  'A nonce is accepted once, whatever the route, and is remembered for at least 601 seconds: timestamps are whole seconds, and valid ones span 600.';
const NONCE_CLAIM =
  'A nonce is claimed after the signature is verified, so a refused call does not use up a nonce.';

/** The cases about the four signature headers. Contract, section 1. */
export function signatureCases<Subject>(target: Target<Subject>): Case<Subject>[] {
  const callsOf = target.calls;
  const define = (id: string, title: string, rule: string, run: Case<Subject>['run']): Case<Subject> => ({
    id,
    title,
    group: 'signature',
    rule,
    run,
  });
  type Deviate = (calls: SignedCalls) => Deviation;
  const accepted = (id: string, title: string, rule: string, deviation: Deviate) =>
    define(id, title, rule, async (subject) =>
      expectOk(await probe(target, subject, deviation(callsOf(subject)))),
    );
  const refused = (id: string, title: string, rule: string, deviation: Deviate) =>
    define(id, title, rule, async (subject) =>
      expectRefused(target, await probe(target, subject, deviation(callsOf(subject)))),
    );
  const without = (id: string, header: string) =>
    refused(id, `refuses a call without ${header}`, REFUSES, () => ({
      headers: (signed) => Object.fromEntries(Object.entries(signed).filter(([name]) => name !== header)),
    }));
  const changed = (id: string, title: string, header: string, change: (value: string) => string) =>
    refused(id, title, REFUSES, () => ({
      headers: (signed) => ({ ...signed, [header]: change(signed[header] ?? '') }),
    }));
  const changedBody = (
    id: string,
    title: string,
    texts: (body: Record<string, unknown>) => { signed: string; sent: string },
  ) =>
    define(id, title, BYTES, async (subject) => {
      const { signed, sent } = texts(target.probe.body(subject));
      expectRefused(target, await callsOf(subject).post(target.probe.route, sent, { signedBody: signed }));
    });

  return [
    define('signed-call', 'accepts a correctly signed call', ACCEPTS, async (subject) => {
      const reply = await probe(target, subject);
      if (reply.status !== 200) expectOk(reply, undefined, await diagnose(target, subject));
    }),
    accepted('headers-lower-case', 'accepts headers in lower case', ACCEPTS, () => ({ headers: lowerCased })),
    accepted('clock-behind', 'accepts a timestamp four minutes old', TIME, (calls) =>
      withClockOffset(calls, -WITHIN_SECONDS),
    ),
    accepted('clock-ahead', 'accepts a timestamp four minutes ahead', TIME, (calls) =>
      withClockOffset(calls, WITHIN_SECONDS),
    ),
    define(
      'body-spelled-unusually',
      'verifies the bytes of the body, not JSON that was serialised again',
      BYTES,
      async (subject) =>
        expectOk(await callsOf(subject).post(target.probe.route, unusual(target.probe.body(subject)))),
    ),
    changedBody('body-tampered', 'refuses a body that was changed', (body) => ({
      signed: JSON.stringify(target.tampered(body)),
      sent: JSON.stringify(body),
    })),
    changedBody('body-spaced', 'refuses a body to which a space was added', (body) => ({
      signed: JSON.stringify(body),
      sent: `${JSON.stringify(body)} `,
    })),
    refused('secret-wrong', 'refuses a call that was signed with another secret', REFUSES, wrongSecret),
    without('tenant-missing', 'X-Tenant-ID'),
    without('timestamp-missing', 'X-Timestamp'),
    without('nonce-missing', 'X-Nonce'),
    without('signature-missing', 'X-Signature'),
    changed(
      'signature-malformed',
      'refuses a signature that is not hexadecimal',
      'X-Signature',
      () => 'no-signature',
    ),
    changed('signature-shortened', 'refuses half of the right signature', 'X-Signature', (hex) =>
      hex.slice(0, 32),
    ),
    refused('tenant-wrong', 'refuses a call for another tenant', TENANT, ({ endpoint }) => ({
      tenantId: `${endpoint.tenantId}-x`.slice(-64),
    })),
    refused('timestamp-old', 'refuses a timestamp six minutes old', TIME, (calls) =>
      withClockOffset(calls, -BEYOND_SECONDS),
    ),
    refused('timestamp-future', 'refuses a timestamp six minutes ahead', TIME, (calls) =>
      withClockOffset(calls, BEYOND_SECONDS),
    ),
    refused('timestamp-milliseconds', 'refuses a timestamp in milliseconds', TIME, (calls) => ({
      timestamp: `${calls.nowSeconds()}000`,
    })),
    changed('timestamp-changed', 'refuses a timestamp that was changed', 'X-Timestamp', (seconds) =>
      String(Number(seconds) - 1),
    ),
    changed('nonce-changed', 'refuses a nonce that was changed', 'X-Nonce', (nonce) => `${nonce}0`),
    refused('method-changed', 'refuses a signature over another method', REFUSES, () => ({
      signedMethod: 'PUT',
    })),
    define('path-changed', 'refuses a signature over another path', REFUSES, async (subject) => {
      const signedPath = callsOf(subject).pathOf(target.probe.route);
      expectRefused(target, await otherProbe(target, subject, { signedPath }));
    }),
    refused('query-added', 'refuses a query string that was not signed', REFUSES, () => ({
      query: '?certify=1',
    })),
    define('nonce-replayed', 'refuses the same call a second time', NONCE_ONCE, async (subject) => {
      const [body, sameCall] = [target.other.body(subject), repeatable(callsOf(subject))];
      const call = () => callsOf(subject).post(target.other.route, body, sameCall);
      expectOk(await call(), 'status 200 the first time');
      expectRefused(target, await call());
    }),
    define(
      'nonce-replayed-elsewhere',
      'refuses a nonce that was used on another route',
      NONCE_ONCE,
      async (subject) => {
        const { nonce } = repeatable(callsOf(subject));
        expectOk(await otherProbe(target, subject, { nonce }), 'status 200 the first time');
        expectRefused(target, await probe(target, subject, { nonce }));
      },
    ),
    define(
      'nonce-replayed-at-once',
      `accepts one of ${AT_ONCE} equal calls at once`,
      NONCE_ONCE,
      async (subject) => {
        const [body, sameCall] = [target.other.body(subject), repeatable(callsOf(subject))];
        const calls = Array.from({ length: AT_ONCE }, () =>
          callsOf(subject).post(target.other.route, body, sameCall),
        );
        const replies = await Promise.all(calls);
        const accepting = replies.filter(({ status }) => status === 200);
        const statuses = replies.map(({ status }) => status).join(' ');
        if (accepting.length !== 1) throw new Unmet('status 200 once, the others refused', statuses);
        for (const reply of replies) if (reply.status !== 200) expectRefused(target, reply);
      },
    ),
    define(
      'forged-call-leaves-nonce',
      'does not use up the nonce of a call that it refuses',
      NONCE_CLAIM,
      async (subject) => {
        const { nonce } = repeatable(callsOf(subject));
        expectRefused(target, await probe(target, subject, { nonce, ...wrongSecret(callsOf(subject)) }));
        expectOk(
          await probe(target, subject, { nonce }),
          'status 200 for a call whose nonce came with a forged signature before',
          'Claim the nonce after the signature is verified: otherwise anyone can use up the nonces of others.',
        );
      },
    ),
  ];
}

/** Signs with a secret that differs from the server's. */
export function wrongSecret({ endpoint }: SignedCalls): Deviation {
  return { secret: `${endpoint.secret}x` };
}

function withClockOffset(calls: SignedCalls, seconds: number): Deviation {
  return { timestamp: String(calls.nowSeconds() + seconds) };
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The same JSON with unusual whitespace, escapes and numbers, and with unknown fields. */
function unusual(body: Record<string, unknown>): string {
  const members = Object.entries(body).map(([key, value]) => `"${key}" :\t${JSON.stringify(value)}`);
  const odd = '"certify" : "Zo\\u00eb, Zoë, 🎰 \\/", "big":9007199254740993, "one":1.0';
  return `{ ${members.join(',\r\n')},\n${odd} }\n`;
}
