import type { Caller, Deviation } from './caller.js';
import {
  expectOk,
  expectRefused,
  expectRemaining,
  grantBody,
  granted,
  named,
  refusal,
  revocationBody,
} from './expectations.js';
import { type Case, Unmet } from './outcome.js';

export interface RunnableCase extends Case {
  run: (caller: Caller) => Promise<void>;
}

/** Beyond the tolerance of 300 s, and within it, by a minute: clocks may differ by that much. */
const BEYOND_SECONDS = 360;
const WITHIN_SECONDS = 240;
const AT_ONCE = 10;

const off = (caller: Caller, seconds: number): Deviation => ({
  timestamp: String(caller.nowSeconds() + seconds),
});

function refused(id: string, title: string, deviation: (caller: Caller) => Deviation): RunnableCase {
  return { id, title, group: 'signature', run: (caller) => refusal(caller, deviation(caller)) };
}

function without(id: string, header: string): RunnableCase {
  return refused(id, `refuses a call without ${header}`, () => ({
    headers: (signed) => Object.fromEntries(Object.entries(signed).filter(([name]) => name !== header)),
  }));
}

function changed(id: string, title: string, header: string, change: (value: string) => string): RunnableCase {
  return refused(id, title, () => ({
    headers: (signed) => ({ ...signed, [header]: change(signed[header] ?? '') }),
  }));
}

function accepted(id: string, title: string, deviation: (caller: Caller) => Deviation): RunnableCase {
  return {
    id,
    title,
    group: 'signature',
    run: async (caller) => expectOk(await caller.call('grant', grantBody(caller), deviation(caller))),
  };
}

const lowerCased = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

export const SIGNATURE_CASES: RunnableCase[] = [
  accepted('signed-call', 'accepts a call that is signed as it should be', () => ({})),
  accepted('headers-lower-case', 'accepts headers in lower case', () => ({ headers: lowerCased })),
  accepted('clock-behind', 'accepts a timestamp four minutes old', (caller) => off(caller, -WITHIN_SECONDS)),
  accepted('clock-ahead', 'accepts a timestamp four minutes ahead', (caller) => off(caller, WITHIN_SECONDS)),
  {
    id: 'body-spelled-unusually',
    group: 'signature',
    title: 'verifies the bytes that came, not JSON made anew from them',
    run: async (caller) => {
      const members = Object.entries(grantBody(caller)).map(
        ([key, value]) => `"${key}" :\t${JSON.stringify(value)}`,
      );
      const odd = '"certify" : "Zo\\u00eb, Zoë, 🎰 \\/", "big":9007199254740993, "one":1.0';
      expectOk(await caller.call('grant', `{ ${members.join(',\r\n')},\n${odd} }\n`));
    },
  },
  {
    id: 'body-tampered',
    group: 'signature',
    title: 'refuses a body that was changed',
    run: async (caller) => {
      const body = grantBody(caller);
      const signedBody = JSON.stringify({ ...body, spins: body.spins + 1 });
      expectRefused(await caller.call('grant', body, { signedBody }));
    },
  },
  {
    id: 'body-spaced',
    group: 'signature',
    title: 'refuses a body to which a space was added',
    run: async (caller) => {
      const signedBody = JSON.stringify(grantBody(caller));
      expectRefused(await caller.call('grant', `${signedBody} `, { signedBody }));
    },
  },
  refused('secret-wrong', 'refuses a call that another secret signed', ({ provider }) => ({
    secret: `${provider.secret}x`,
  })),
  without('tenant-missing', 'X-Tenant-ID'),
  without('timestamp-missing', 'X-Timestamp'),
  without('nonce-missing', 'X-Nonce'),
  without('signature-missing', 'X-Signature'),
  changed('signature-malformed', 'refuses a signature that is no hex', 'X-Signature', () => 'no-signature'),
  changed('signature-shortened', 'refuses half of the right signature', 'X-Signature', (hex) =>
    hex.slice(0, 32),
  ),
  refused('tenant-wrong', 'refuses a call for another tenant', ({ provider }) => ({
    tenantId: `${provider.tenantId}-x`.slice(-64),
  })),
  refused('timestamp-old', 'refuses a timestamp six minutes old', (caller) => off(caller, -BEYOND_SECONDS)),
  refused('timestamp-future', 'refuses a timestamp six minutes ahead', (caller) =>
    off(caller, BEYOND_SECONDS),
  ),
  refused('timestamp-milliseconds', 'refuses a timestamp in milliseconds', (caller) => ({
    timestamp: `${caller.nowSeconds()}000`,
  })),
  changed('timestamp-changed', 'refuses a timestamp that was changed', 'X-Timestamp', (seconds) =>
    String(Number(seconds) - 1),
  ),
  changed('nonce-changed', 'refuses a nonce that was changed', 'X-Nonce', (nonce) => `${nonce}0`),
  refused('method-changed', 'refuses a signature over another method', () => ({ signedMethod: 'PUT' })),
  {
    id: 'path-changed',
    group: 'signature',
    title: 'refuses a signature over another path',
    run: async (caller) => {
      const batch = await granted(caller);
      expectRefused(await caller.call('cancel', named(batch), { signedRoute: 'status' }));
    },
  },
  refused('query-added', 'refuses a query string that was not signed', () => ({ query: '?certify=1' })),
  {
    id: 'nonce-replayed',
    group: 'signature',
    title: 'refuses the same call a second time',
    run: async (caller) => {
      const [body, sameCall] = [revocationBody(caller), callOnce(caller)];
      expectOk(await caller.call('revoke', body, sameCall), 'status 200 the first time');
      expectRefused(await caller.call('revoke', body, sameCall));
    },
  },
  {
    id: 'nonce-replayed-elsewhere',
    group: 'signature',
    title: 'refuses a nonce that was used on another route',
    run: async (caller) => {
      const { nonce } = callOnce(caller);
      expectOk(await caller.call('revoke', revocationBody(caller), { nonce }), 'status 200 the first time');
      expectRefused(await caller.call('grant', grantBody(caller), { nonce }));
    },
  },
  {
    id: 'nonce-replayed-at-once',
    group: 'signature',
    title: `accepts one of ${AT_ONCE} equal calls that come at once`,
    run: async (caller) => {
      const [body, sameCall] = [revocationBody(caller), callOnce(caller)];
      const calls = Array.from({ length: AT_ONCE }, () => caller.call('revoke', body, sameCall));
      const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
      const right = [200, ...Array.from({ length: AT_ONCE - 1 }, () => 401)];
      if (String(statuses) !== String(right)) throw new Unmet(`200 once, else 401`, statuses.join(' '));
    },
  },
  {
    id: 'refused-call-changes-nothing',
    group: 'signature',
    title: 'carries out nothing of a call that it refuses',
    run: async (caller) => {
      const batch = await granted(caller);
      await caller.call('cancel', named(batch), { secret: `${caller.provider.secret}x` });
      await expectRemaining(caller, batch, batch.spins);
    },
  },
];

/** What makes two calls the same, byte for byte. */
function callOnce(caller: Caller): { nonce: string; timestamp: string } {
  return { nonce: caller.fresh('nonce'), timestamp: String(caller.nowSeconds()) };
}
