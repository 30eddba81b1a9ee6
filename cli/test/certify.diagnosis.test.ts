import { signatureOf } from '@croupier/provider-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { command } from './support/command.js';
import { type Call, ReferenceProvider, SECRET, TENANT } from './support/reference-provider.js';

/** What a server verifies in place of what is right. */
interface Expected {
  tenantId?: string;
  secret?: string | Buffer;
  path?: (path: string) => string;
  body?: (raw: string) => string;
  signature?: (hex: string) => string;
  timestamp?: RegExp;
}

const sorted = (raw: string) =>
  JSON.stringify(
    Object.fromEntries(Object.entries(JSON.parse(raw) as object).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
const python = (raw: string) => raw.replaceAll(':', ': ').replaceAll(',', ', ');

function verifies({ headers, path, raw }: Call, expected: Expected): boolean {
  const { 'x-timestamp': timestamp = '', 'x-nonce': nonce = '', 'x-signature': received = '' } = headers;
  const hex = signatureOf(expected.secret ?? SECRET, {
    method: 'POST',
    path: expected.path?.(path) ?? path,
    timestamp,
    nonce,
    body: expected.body?.(raw) ?? raw,
  });
  const isTenant = headers['x-tenant-id'] === (expected.tenantId ?? TENANT);
  return (
    isTenant && (expected.timestamp ?? /./).test(timestamp) && received === (expected.signature?.(hex) ?? hex)
  );
}

test.each<[string, Expected, RegExp]>([
  [
    'the tenant in lower case',
    { tenantId: 'spinwell' },
    /Your server expects X-Tenant-ID spinwell, but Spinwell.* So the tenant differs/,
  ],
  [
    'the tenant of an example',
    { tenantId: 'my-provider' },
    /Your server expects X-Tenant-ID my-provider.* So the tenant differs/,
  ],
  [
    'the secret with a newline',
    { secret: `${SECRET}\n` },
    /Your server .*with a newline at its end.* So the secret differs/,
  ],
  [
    'the secret decoded',
    { secret: Buffer.from(SECRET, 'base64') },
    /Your server .*decoded as base64.* So the secret differs/,
  ],
  [
    'the path without a prefix',
    { path: (path) => path.replace('/rgs', '') },
    /Your server verifies the path \/v1\/.* So the path differs/,
  ],
  [
    'the address for a path',
    { path: (path) => `http://127.0.0.1:PORT${path}` },
    /Your server .*the path http:\/\/.* So the path differs/,
  ],
  ['an empty body', { body: () => '' }, /Your server verifies the body "".* So the body differs/],
  ['sorted JSON', { body: sorted }, /Your server .*keys in alphabetical order.* So the body differs/],
  ['spaced JSON', { body: python }, /Your server .*spaces after commas and colons.* So the body differs/],
  ['milliseconds', { timestamp: /^\d{13}$/ }, /Your server .*milliseconds.* So the timestamp differs/],
  [
    'base64',
    { signature: (hex) => Buffer.from(hex, 'hex').toString('base64') },
    /Your server .*base64.* So the signature differs/,
  ],
  [
    'another secret',
    { secret: 'unknown' },
    /calls with another tenant, secret, path or body were refused, too\. Check in this order/,
  ],
])('a server that expects %s is told so', async (_, expected, hint) => {
  const provider = await ReferenceProvider.start({
    verifies: (call) => {
      const { path } = expected;
      const { port } = new URL(provider.url);
      const withPort = path && ((text: string) => path(text).replace('PORT', port));
      return verifies(call, { ...expected, ...(withPort && { path: withPort }) });
    },
  });
  onTestFinished(() => provider.stop());
  const args = ['certify', '--webhook-base-url', `${provider.url}/rgs`, '--tenant', TENANT];
  const { status, printed } = await command([...args, '--only', 'signed-call'], { secret: SECRET });
  expect(status).toBe(1);
  expect(printed).toMatch(hint);
});
