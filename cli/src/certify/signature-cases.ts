import { diagnose } from './diagnosis.js';
import { type Case, Unmet } from './outcome.js';
import { type Deviation, type SignedCalls, withFixedSignature } from './signed-calls.js';
import { SIGNATURE_RULES } from './signature-rules.js';
import { expectOk, expectRefused, otherProbe, probe, type Target } from './target.js';

/** Offsets one minute beyond and one minute within the tolerance of 300 s, since the clocks may differ a little. */
const BEYOND_SECONDS = 360;
const WITHIN_SECONDS = 240;
const AT_ONCE = 10;

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
  const refusedEach = (
    id: string,
    title: string,
    rule: string,
    deviations: (calls: SignedCalls) => Readonly<Record<string, Deviation>>,
  ) =>
    define(id, title, rule, async (subject) => {
      for (const [what, deviation] of Object.entries(deviations(callsOf(subject))))
        expectRefused(target, await probe(target, subject, deviation), what);
    });
  const without = (id: string, header: string) =>
    refused(id, `refuses a call without ${header}`, SIGNATURE_RULES.refuses, () => ({
      headers: (signed) => Object.fromEntries(Object.entries(signed).filter(([name]) => name !== header)),
    }));
  const changed = (id: string, title: string, header: string, change: (value: string) => string) =>
    refused(id, title, SIGNATURE_RULES.refuses, () => ({
      headers: (signed) => ({ ...signed, [header]: change(signed[header] ?? '') }),
    }));
  const changedBody = (
    id: string,
    title: string,
    texts: (body: Record<string, unknown>) => { signed: string; sent: string },
  ) =>
    define(id, title, SIGNATURE_RULES.bytes, async (subject) => {
      const { signed, sent } = texts(target.probe.body(subject));
      expectRefused(target, await callsOf(subject).post(target.probe.route, sent, { signedBody: signed }));
    });

  return [
    define('signed-call', 'accepts a correctly signed call', SIGNATURE_RULES.accepts, async (subject) => {
      const reply = await probe(target, subject);
      if (reply.status !== 200) expectOk(reply, undefined, await diagnose(target, subject));
    }),
    accepted('headers-lower-case', 'accepts headers in lower case', SIGNATURE_RULES.accepts, () => ({
      headers: lowerCased,
    })),
    accepted('clock-behind', 'accepts a timestamp four minutes old', SIGNATURE_RULES.time, (calls) =>
      withClockOffset(calls, -WITHIN_SECONDS),
    ),
    accepted('clock-ahead', 'accepts a timestamp four minutes ahead', SIGNATURE_RULES.time, (calls) =>
      withClockOffset(calls, WITHIN_SECONDS),
    ),
    define(
      'body-spelled-unusually',
      'verifies the bytes of the body, not JSON that was serialised again',
      SIGNATURE_RULES.bytes,
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
    refused(
      'secret-wrong',
      'refuses a call that was signed with another secret',
      SIGNATURE_RULES.refuses,
      wrongSecret,
    ),
    without('tenant-missing', 'X-Tenant-ID'),
    without('timestamp-missing', 'X-Timestamp'),
    without('nonce-missing', 'X-Nonce'),
    without('signature-missing', 'X-Signature'),
    refusedEach(
      'headers-empty',
      'refuses a call in which one of the four headers is empty',
      SIGNATURE_RULES.refuses,
      () => ({
        'an empty X-Tenant-ID': { tenantId: '' },
        'an empty X-Nonce': { nonce: '' },
        'an empty X-Timestamp': { timestamp: '' },
        'an empty X-Signature': { headers: (signed) => ({ ...signed, 'X-Signature': '' }) },
      }),
    ),
    changed(
      'signature-malformed',
      'refuses a signature that is not hexadecimal',
      'X-Signature',
      () => 'no-signature',
    ),
    changed('signature-shortened', 'refuses half of the right signature', 'X-Signature', (hex) =>
      hex.slice(0, 32),
    ),
    changed(
      'signature-extended',
      'refuses the right signature with more behind it',
      'X-Signature',
      (hex) => `${hex}00`,
    ),
    refused('tenant-wrong', 'refuses a call for another tenant', SIGNATURE_RULES.tenant, ({ endpoint }) => ({
      tenantId: `${endpoint.tenantId}-x`.slice(-64),
    })),
    refusedEach(
      'tenant-similar',
      'refuses a tenant identifier that is only similar',
      SIGNATURE_RULES.tenant,
      ({ endpoint: { tenantId } }) => {
        const similar = [
          tenantId.toUpperCase(),
          tenantId.toLowerCase(),
          tenantId.slice(0, -1),
          `${tenantId},x`,
        ].filter((text) => text !== tenantId && text !== '');
        return Object.fromEntries(similar.map((each) => [`X-Tenant-ID ${each}`, { tenantId: each }]));
      },
    ),
    refused('timestamp-old', 'refuses a timestamp six minutes old', SIGNATURE_RULES.time, (calls) =>
      withClockOffset(calls, -BEYOND_SECONDS),
    ),
    refused('timestamp-future', 'refuses a timestamp six minutes ahead', SIGNATURE_RULES.time, (calls) =>
      withClockOffset(calls, BEYOND_SECONDS),
    ),
    refused(
      'timestamp-milliseconds',
      'refuses a timestamp in milliseconds',
      SIGNATURE_RULES.time,
      (calls) => ({
        timestamp: `${calls.nowSeconds()}000`,
      }),
    ),
    refusedEach(
      'timestamp-no-number',
      'refuses a timestamp that is not a number of seconds',
      SIGNATURE_RULES.time,
      (calls) => {
        const texts = ['now', 'NaN', new Date(calls.nowSeconds() * 1000).toISOString()];
        return Object.fromEntries(texts.map((timestamp) => [`X-Timestamp ${timestamp}`, { timestamp }]));
      },
    ),
    changed('timestamp-changed', 'refuses a timestamp that was changed', 'X-Timestamp', (seconds) =>
      String(Number(seconds) - 1),
    ),
    changed('nonce-changed', 'refuses a nonce that was changed', 'X-Nonce', (nonce) => `${nonce}0`),
    refused('method-changed', 'refuses a signature over another method', SIGNATURE_RULES.refuses, () => ({
      signedMethod: 'PUT',
    })),
    define(
      'path-changed',
      'refuses a signature over another path',
      SIGNATURE_RULES.refuses,
      async (subject) => {
        const signedPath = callsOf(subject).pathOf(target.probe.route);
        expectRefused(target, await otherProbe(target, subject, { signedPath }));
      },
    ),
    refused('query-added', 'refuses a query string that was not signed', SIGNATURE_RULES.refuses, () => ({
      query: '?certify=1',
    })),
    define(
      'nonce-replayed',
      'refuses the same call a second time',
      SIGNATURE_RULES.nonceOnce,
      async (subject) => {
        const [body, sameCall] = [target.other.body(subject), withFixedSignature(callsOf(subject))];
        const call = () => callsOf(subject).post(target.other.route, body, sameCall);
        expectOk(await call(), 'status 200 the first time');
        expectRefused(target, await call());
      },
    ),
    define(
      'nonce-replayed-elsewhere',
      'refuses a nonce that was used on another route',
      SIGNATURE_RULES.nonceOnce,
      async (subject) => {
        const { nonce } = callsOf(subject).freshNonce();
        expectOk(await otherProbe(target, subject, { nonce }), 'status 200 the first time');
        expectRefused(target, await probe(target, subject, { nonce }));
      },
    ),
    define(
      'nonce-replayed-at-once',
      `accepts one of ${AT_ONCE} equal calls at once`,
      SIGNATURE_RULES.nonceOnce,
      async (subject) => {
        const [body, sameCall] = [target.other.body(subject), withFixedSignature(callsOf(subject))];
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
      'nonce-case',
      'accepts two nonces that differ only in upper and lower case, or in the last of 128 characters',
      SIGNATURE_RULES.nonceText,
      async (subject) => {
        const start = callsOf(subject).fresh('nonce').padEnd(127, '._:-');
        for (const nonce of [`${start}a`, `${start}A`, `${start}b`])
          expectOk(await probe(target, subject, { nonce }), `status 200 for the nonce ${nonce}`);
      },
    ),
    define(
      'forged-call-leaves-nonce',
      'does not use up the nonce of a call that it refuses',
      SIGNATURE_RULES.nonceClaim,
      async (subject) => {
        const { nonce } = callsOf(subject).freshNonce();
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
