import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Logger } from '@nestjs/common';
import { ADMIN_KEY, bearer, GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';

const lines: string[] = [];
/** The secrets of this run by name; none may appear anywhere. */
const confidential = new Map<string, string>();
let restore: () => void;

function keep(name: string, value: unknown): string {
  confidential.set(`${name} ${confidential.size}`, String(value));
  return String(value);
}

/**
 * Records the signature of each request that the test sends.
 * @returns a function that ends the recording
 */
function watchRequests(): () => void {
  const original = world.request.bind(world);
  world.request = (path, init) => {
    const headers = new Headers(init?.headers);
    const signature = headers.get('X-Signature');
    if (signature) keep('signature', signature);
    return original(path, init);
  };
  return () => (world.request = original);
}

const world = useWorld(
  { LOG_LEVEL: 'trace', METRICS_TOKEN: 'metrics-token-of-this-run-4711' },
  { write: (line: string) => void lines.push(line) },
);
beforeAll(async () => {
  restore = watchRequests();
  keep('root key', ADMIN_KEY);
  keep('metrics token', 'metrics-token-of-this-run-4711');
  keep('SECRETS_KEY', Buffer.alloc(32, 'test').toString('base64'));
  keep('database password', new URL(world.databaseUrl).password || 'no password');
  for (const secret of world.secrets.values()) keep('secret', secret);
  await traffic();
});

afterAll(() => restore());

/** Successes, refusals and internal errors. */
async function traffic(): Promise<void> {
  await world.admin('PUT', `/v1/admin/games/${GAME}`, {
    providerId: PROVIDER,
    name: 'Launched',
    launchUrl: 'https://play.example/x?a=b',
  });
  const session = await world.launch();
  keep('session token', session.sessionToken);
  const verify = { sessionToken: session.sessionToken };
  await world.signed(PROVIDER, '/v1/wallet/session/verify', verify);
  for (const kind of ['BET', 'WIN']) await world.submit(world.transaction(session, kind, { roundId: 'r' }));
  await world.submit(world.transaction(session, 'BET', { currency: 'eur' }));
  await world.submit({
    ...world.transaction(session, 'BET'),
    sessionToken: keep('unknown token', `t-${randomUUID()}`),
  });
  await world.balance(session);
  for (const then of ['drop', 'garbage'] as const) {
    world.wallet.next({ do: then }, { path: '/balance' });
    await world.balance(session);
  }
  world.wallet.next({ do: 'hang' }, { path: '/transaction' });
  await world.submit(world.transaction(session, 'BET'));
  await world.signed(PROVIDER, '/v1/wallet/balance', verify, {
    secret: keep('wrong secret', `w-${randomUUID()}`),
  });
  await world.signed(PROVIDER, '/v1/wallet/balance', '{"sessionToken":', {});
  await world.revoke(session.sessionId);
  await world.signed(OPERATOR, `/v1/operator/players/${session.playerRef}/revoke-sessions`, {
    reason: 'OTHER',
  });
  await administer();
  for (const call of world.wallet.received) keep('outgoing signature', call.headers['x-signature']);
}

async function administer(): Promise<void> {
  const { id, key, call } = await world.administrator('support');
  keep('admin key', key);
  await call('GET', '/v1/admin/providers');
  await call('POST', '/v1/admin/keys');
  await world.admin('GET', '/v1/admin/keys');
  await world.admin('GET', '/v1/admin/audit');
  const rotated = await world.admin('POST', `/v1/admin/operators/${OPERATOR}/secret/rotate`, {});
  keep('rotated secret', rotated.json['secret']);
  await world.admin('DELETE', `/v1/admin/keys/${id}`);
  await call('GET', '/v1/admin/providers');
  const wrong = keep('wrong key', `wrong-${randomUUID()}`);
  await world.request('/v1/admin/providers', { headers: bearer(wrong) });
  await world.request('/metrics', { headers: { Authorization: 'Bearer metrics-token-of-this-run-4711' } });
  // Internal errors are logged in full.
  await world.sql.run('ALTER TABLE admin_keys RENAME TO hidden');
  await world.admin('POST', '/v1/admin/keys', { name: 'Broken', role: 'support' });
  await world.sql.run('ALTER TABLE hidden RENAME TO admin_keys');
}

describe('of a run at level trace', () => {
  test('the log has a line for each event', () => {
    const told = lines.join('');
    for (const words of [
      'POST /v1/operator/sessions',
      'POST /v1/wallet/transaction',
      'signature refused',
      'admin key refused',
      'audit key.create',
      'admin_keys',
    ]) {
      expect(told).toContain(words);
    }
    expect(confidential.size).toBeGreaterThan(25);
  });

  test('no line contains a secret, token, signature or key', () => {
    const told = lines.join('');
    const leaked = [...confidential].filter(([, value]) => {
      const spelled = [
        value,
        encodeURIComponent(value),
        Buffer.from(value).toString('base64').replace(/=+$/, ''),
      ];
      return spelled.some((text) => told.includes(text));
    });
    expect(leaked.map(([name]) => name)).toEqual([]);
  });

  test('the audit log and the metrics contain none either', async () => {
    const entries = await world.sql.run<{ row: string }>(
      'SELECT row_to_json(e)::text AS row FROM audit_entries e',
    );
    const metrics = await world.request('/metrics', {
      headers: { Authorization: 'Bearer metrics-token-of-this-run-4711' },
    });
    const told = entries.map(({ row }) => row).join('') + metrics.text;
    expect(told).toContain('key.create');
    expect([...confidential].filter(([, value]) => told.includes(value)).map(([name]) => name)).toEqual([]);
  });
});

test.each([
  ['a callback could not be recorded and was not sent', 'before the call'],
  ['the outcome of a callback could not be recorded', 'after the call'],
])('“%s” is logged with its error, and without the values of its statement', async (msg, moment) => {
  lines.length = 0;
  const { sessionId, playerRef } = await world.launch();
  const held = world.provider.next({ do: 'hold' }, { sessionId });
  const revoked = moment === 'after the call' ? world.revoke(sessionId) : undefined;
  if (revoked) await held.arrived;
  await world.sql.run('ALTER TABLE callbacks RENAME TO hidden');
  held.release();
  await (revoked ?? world.revoke(sessionId));
  await world.sql.run('ALTER TABLE hidden RENAME TO callbacks');
  const line = lines.find((each) => each.includes(msg))!;
  expect(JSON.parse(line)).toMatchObject({ err: { message: 'relation "callbacks" does not exist' } });
  expect(line).not.toContain(playerRef);
});

test.each([
  'secret',
  'sessionToken',
  'launchUrl',
  'key',
  'authorization',
  'Authorization',
  'X-Signature',
  'x-signature',
])('the field %s of a line is redacted', (field) => {
  lines.length = 0;
  const value = `hidden-${randomUUID()}`;
  new Logger('Test').log({ msg: 'careless', [field]: value, headers: { [field]: value } });
  expect(lines.join('')).toContain('careless');
  expect(lines.join('')).not.toContain(value);
});
