import { exportJWK, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfiguration } from '../../src/config/configuration.js';
import { ADMIN_KEY, bearer, startApplication, startWorld, type World } from '../world/world.js';

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** An OpenID provider that serves its keys. */
const issuer = createServer((request, response) => {
  issuerRequests.push(request.url ?? '');
  acceptedEncodings.add(request.headers['accept-encoding']);
  if (away) return response.writeHead(503).end();
  if (silent) return unanswered.push(response);
  const document =
    request.url === '/realm/.well-known/openid-configuration'
      ? { issuer: issuerUrl, jwks_uri: issuerUrl + keysPath }
      : { keys: request.url === `/realm${keysPath}` ? published : [] };
  const text = JSON.stringify(document);
  if (compressed) return response.setHeader('Content-Encoding', 'gzip').end(gzipSync(text));
  return response.end(text);
});
const issuerRequests: string[] = [];
const acceptedEncodings = new Set<unknown>();
let compressed = false;
let away = false;
let silent = false;
const unanswered: ServerResponse[] = [];
let published: JWK[] = [];
let keysPath = '/certs';
let issuerUrl: string;
let world: World;
let key: PrivateKey;
let strangersKey: PrivateKey;

beforeAll(async () => {
  issuer.listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  issuerUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/realm`;
  const pair = await generateKeyPair('ES256');
  key = pair.privateKey;
  strangersKey = (await generateKeyPair('ES256')).privateKey;
  published = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
  world = await startWorld({
    ADMIN_JWT_ISSUER: issuerUrl,
    ADMIN_JWT_AUDIENCE: 'croupier',
    ADMIN_JWT_ROLE_CLAIM: 'croupier_role',
    TRUST_PROXY: 'loopback',
  });
});

afterAll(async () => {
  issuer.close();
  await world.stop();
});

interface Token {
  readonly claims?: Record<string, unknown>;
  readonly header?: { alg: string; kid?: string; typ?: string };
  readonly signedWith?: PrivateKey | Uint8Array;
}

function token({
  claims = {},
  header = { alg: 'ES256', kid: 'one' },
  signedWith = key,
}: Token = {}): Promise<string> {
  const now = Math.floor(world.clock.unixSeconds());
  const payload = { iss: issuerUrl, aud: 'croupier', sub: 'alice', exp: now + 300, croupier_role: 'support' };
  return new SignJWT({ ...payload, ...claims }).setProtectedHeader(header).sign(signedWith);
}

let serial = 0;
/** Sends each request from an address of its own, so that no refusal counts against another test. */
function ask(token: string, method = 'GET', path = '/v1/admin/providers') {
  const from = `2001:db8:${(serial += 1).toString(16)}::1`;
  return world.request(path, {
    method,
    headers: { ...bearer(token), 'X-Forwarded-For': from },
  });
}

test("an issuer's token admits to the routes of its role, and to no others", async () => {
  expect((await ask(await token())).status).toBe(200);
  expect((await ask(await token(), 'GET', '/v1/admin/keys')).status).toBe(403);
  const roles = ['offline_access', 'support', 'admin'];
  expect((await ask(await token({ claims: { croupier_role: roles } }), 'GET', '/v1/admin/keys')).status).toBe(
    200,
  );
});

test('two roles that do not include each other admit to the routes of both', async () => {
  const both = await token({
    claims: { sub: 'carol', croupier_role: ['promotions', 'operations', 'support'] },
  });
  const path = '/v1/admin/transactions/spinwell/none/resolve';
  expect((await ask(both, 'POST', path)).status).toBe(404);
  expect((await ask(both, 'POST', '/v1/admin/free-spins/none/cancel')).status).toBe(404);
  expect((await ask(both, 'GET', '/v1/admin/keys')).status).toBe(403);
  const { items } = (await world.admin('GET', '/v1/admin/audit?actor=jwt:carol')).json;
  expect(items).toMatchObject([
    { actorName: 'carol', role: 'operations+promotions', action: 'key.list', outcome: 'FORBIDDEN' },
  ]);
});

test("a token's caller reads the strongest of its roles, and the token's expiry", async () => {
  const exp = Math.floor(world.clock.unixSeconds()) + 300;
  const me = async (claims: Record<string, unknown>) => {
    const { status, json } = await ask(await token({ claims }), 'GET', '/v1/admin/me');
    return { status, ...json };
  };
  expect(
    await me({ sub: 'dave', exp, croupier_role: ['auditor', 'promotions', 'operations'] }),
  ).toMatchObject({
    actor: 'jwt:dave',
    name: 'dave',
    role: 'operations',
    roles: ['operations', 'promotions'],
    expiresAt: new Date(exp * 1000).toISOString(),
  });
  expect(await me({ croupier_role: ['support', 'auditor'] })).not.toHaveProperty('roles');
  const farAway = await me({ exp: 1e300, croupier_role: 'auditor' });
  expect(farAway).toMatchObject({ role: 'auditor', expiresAt: '9999-12-31T23:59:59.000Z' });
  expect(await me({ croupier_role: 'nobody' })).toMatchObject({ status: 403 });
});

test("a token's subject is the actor in the audit log", async () => {
  await ask(await token({ claims: { sub: 'bob', croupier_role: 'admin' } }), 'GET', '/v1/admin/keys');
  const { items } = (await world.admin('GET', '/v1/admin/audit?actor=jwt:bob')).json;
  expect(items).toMatchObject([{ actor: 'jwt:bob', role: 'admin', action: 'key.list' }]);
});

test('the keys are fetched once, not for each token', async () => {
  await ask(await token());
  issuerRequests.length = 0;
  for (let i = 0; i < 5; i += 1) await ask(await token());
  expect(issuerRequests).toEqual([]);
});

describe('a token is refused with 401', () => {
  const now = () => Math.floor(world.clock.unixSeconds());
  test.each<[string, () => Promise<string> | string]>([
    ['that is signed with a foreign key', () => token({ signedWith: strangersKey })],
    ['of another issuer', () => token({ claims: { iss: 'https://other.example' } })],
    ['for another audience', () => token({ claims: { aud: 'other' } })],
    ['that has expired', () => token({ claims: { exp: now() - 31 } })],
    ['that is not valid yet', () => token({ claims: { nbf: now() + 60 } })],
    ['that never expires', () => token({ claims: { exp: undefined } })],
    ['without a subject', () => token({ claims: { sub: undefined } })],
    ['whose subject contains a line break', () => token({ claims: { sub: 'a\nb' } })],
    ['with a key id that the issuer does not have', () => token({ header: { alg: 'ES256', kid: 'two' } })],
    [
      'signed with a shared secret',
      () => token({ header: { alg: 'HS256', kid: 'one' }, signedWith: new Uint8Array(32) }),
    ],
    ['that is not signed', () => new UnsecuredJWT({ sub: 'alice', croupier_role: 'admin' }).encode()],
    ['that was altered', async () => (await token()).replace(/\.[^.]{10}/, '.eyJzdWIiOi')],
    ['that is not a JWT', () => 'a.b.c'],
    ['that is an ID token with at_hash', () => token({ claims: { at_hash: 'x' } })],
    ['that is an ID token with c_hash', () => token({ claims: { c_hash: '' } })],
    ['that is an ID token with nonce', () => token({ claims: { nonce: null } })],
    ["that is an ID token by Keycloak's claim", () => token({ claims: { typ: 'ID' } })],
    ["that is an ID token by Cognito's claim", () => token({ claims: { token_use: 'id' } })],
    ...['ID', 'id', 'id+jwt', 'ID+JWT', 'application/id+jwt', 'id_token+jwt'].map(
      (typ): [string, () => Promise<string>] => [
        `that is an ID token by its header ${typ}`,
        () => token({ header: { alg: 'ES256', kid: 'one', typ } }),
      ],
    ),
  ])('%s', async (_, made) => {
    const reply = await ask(await made());
    expect([reply.status, reply.json]).toEqual([401, { error: 'a valid admin key is required' }]);
  });
});

test.each(['JWT', 'at+jwt', 'AT+JWT', 'application/at+jwt', undefined])(
  'a token of type %s is accepted if no type is configured',
  async (typ) => {
    const ofType = await token({ header: { alg: 'ES256', kid: 'one', ...(typ && { typ }) } });
    expect((await ask(ofType)).status).toBe(200);
  },
);

test('with ADMIN_JWT_TYP=at+jwt only access tokens by RFC 9068 are accepted', async () => {
  const { app, url } = await startApplication(
    {
      DATABASE_URL: world.databaseUrl,
      ADMIN_JWT_ISSUER: issuerUrl,
      ADMIN_JWT_AUDIENCE: 'croupier',
      ADMIN_JWT_ROLE_CLAIM: 'croupier_role',
      ADMIN_JWT_TYP: 'at+jwt',
    },
    world.clock,
  );
  const statusOf = async (typ?: string) => {
    const headers = bearer(await token({ header: { alg: 'ES256', kid: 'one', ...(typ && { typ }) } }));
    return (await fetch(`${url}/v1/admin/providers`, { headers })).status;
  };
  for (const typ of ['at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/AT+JWT']) {
    expect([typ, await statusOf(typ)]).toEqual([typ, 200]);
  }
  for (const typ of ['JWT', 'id+jwt', 'logout+jwt', 'at', 'application/jwt', undefined]) {
    expect([typ, await statusOf(typ)]).toEqual([typ, 401]);
  }
  await app.close();
});

test.each([undefined, 'root', ['user'], { admin: true }, ''])(
  'a token of role %j may do nothing: 403',
  async (role) => {
    expect((await ask(await token({ claims: { croupier_role: role } }))).status).toBe(403);
  },
);

test('wrong tokens are limited like wrong keys', async () => {
  const wrong = await token({ signedWith: strangersKey });
  const headers = { ...bearer(wrong), 'X-Forwarded-For': '192.0.2.77' };
  const statuses: number[] = [];
  for (let i = 0; i < 21; i += 1)
    statuses.push((await world.request('/v1/admin/providers', { headers })).status);
  expect(statuses).toEqual([...Array<number>(20).fill(401), 429]);
});

describe('from an address that used up its attempts', () => {
  const limited = (token: string, from: string) =>
    world.request('/v1/admin/providers', { headers: { ...bearer(token), 'X-Forwarded-For': from } });

  test('a known valid token is accepted, and a new one has to wait', async () => {
    const known = await token();
    expect((await limited(known, '192.0.2.78')).status).toBe(200);
    for (let i = 0; i < 20; i += 1) await limited('a.b.c', '192.0.2.79');
    expect((await limited(await token({ claims: { jti: 'new' } }), '192.0.2.79')).status).toBe(429);
    expect((await limited(known, '192.0.2.79')).status).toBe(200);
  });

  test('a known token that has expired is refused at once', async () => {
    const over = await token();
    expect((await limited(over, '192.0.2.80')).status).toBe(200);
    for (let i = 0; i < 20; i += 1) await limited('a.b.c', '192.0.2.80');
    world.clock.advance(331);
    for (let i = 0; i < 20; i += 1) await limited('a.b.c', '192.0.2.80');
    expect((await limited(over, '192.0.2.80')).status).toBe(401);
    expect((await limited(over, '192.0.2.80')).status).toBe(429);
  });

  test('tokens of the issuer without a known role use up no attempts', async () => {
    for (let i = 0; i < 25; i += 1) {
      const nobody = await token({ claims: { croupier_role: 'user', jti: String(i) } });
      expect((await limited(nobody, '192.0.2.81')).status).toBe(403);
    }
  });
});

test('keys that have moved to another address are found within an hour', async () => {
  expect((await ask(await token())).status).toBe(200);
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  published = [...published, { ...(await exportJWK(publicKey)), kid: 'moved', alg: 'ES256', use: 'sig' }];
  keysPath = '/moved';
  world.clock.advance(3_600);
  const moved = await token({ header: { alg: 'ES256', kid: 'moved' }, signedWith: privateKey });
  await expect.poll(async () => (await ask(moved)).status).toBe(200);
});

test('the known keys are used at once while the issuer does not answer after an hour', async () => {
  expect((await ask(await token())).status).toBe(200);
  world.clock.advance(3_600);
  silent = true;
  try {
    expect((await ask(await token())).status).toBe(200);
    await expect.poll(() => unanswered).toHaveLength(1);
    expect(unanswered[0]?.closed).toBe(false);
  } finally {
    silent = false;
    unanswered[0]?.destroy();
  }
});

test('the known keys are used while the issuer is unavailable after an hour', async () => {
  expect((await ask(await token())).status).toBe(200);
  world.clock.advance(3_600);
  away = true;
  try {
    expect((await ask(await token())).status).toBe(200);
  } finally {
    away = false;
  }
});

test('while the issuer is unavailable, tokens are answered 500 and keys work', async () => {
  away = true;
  const other = await startWorld({ ADMIN_JWT_ISSUER: issuerUrl, ADMIN_JWT_AUDIENCE: 'croupier' });
  try {
    const reply = await other.request('/v1/admin/providers', { headers: bearer(await token()) });
    expect([reply.status, reply.json]).toEqual([500, { error: 'internal error' }]);
    expect((await other.admin('GET', '/v1/admin/providers')).status).toBe(200);
  } finally {
    away = false;
    await other.stop();
  }
});

test('compressed keys are not read: tokens are answered 500', async () => {
  compressed = true;
  const other = await startWorld({ ADMIN_JWT_ISSUER: issuerUrl, ADMIN_JWT_AUDIENCE: 'croupier' });
  try {
    const headers = bearer(await token());
    expect((await other.request('/v1/admin/providers', { headers })).status).toBe(500);
    expect([...acceptedEncodings]).toEqual(['identity']);
  } finally {
    compressed = false;
    await other.stop();
  }
});

describe('the configuration', () => {
  const base = {
    ADMIN_API_KEY: ADMIN_KEY,
    SECRETS_KEY: Buffer.alloc(32, 'test').toString('base64'),
  };
  test.each([
    [{ ADMIN_JWT_ISSUER: 'https://id.example' }, 'ADMIN_JWT_AUDIENCE: is required'],
    [{ ADMIN_JWT_AUDIENCE: 'croupier' }, 'ADMIN_JWT_ISSUER: is required'],
    [{ ADMIN_JWT_ISSUER: 'http://id.example', ADMIN_JWT_AUDIENCE: 'x' }, 'ADMIN_JWT_ISSUER: must be a URL'],
    [{ ADMIN_JWT_ISSUER: 'id.example', ADMIN_JWT_AUDIENCE: 'x' }, 'ADMIN_JWT_ISSUER: must be a URL'],
    [{ ADMIN_JWT_TYP: 'at-jwt' }, 'ADMIN_JWT_TYP: must be at+jwt'],
    [{ SECRETS_KEY_PREVIOUS: 'short' }, 'SECRETS_KEY_PREVIOUS: must be 32 bytes'],
    [{ SECRETS_KEY_PREVIOUS: base.SECRETS_KEY }, 'SECRETS_KEY_PREVIOUS: must not be the same key'],
  ])('%j is refused at start', (environment, words) => {
    expect(() => readConfiguration({ ...base, ...environment })).toThrow(words);
  });

  test('reads the role from the claim role by default', () => {
    const environment = { ...base, ADMIN_JWT_ISSUER: 'https://id.example', ADMIN_JWT_AUDIENCE: 'croupier' };
    expect(readConfiguration(environment).adminJwt).toEqual({
      issuer: 'https://id.example',
      audience: 'croupier',
      roleClaim: 'role',
      scope: 'openid',
    });
    expect(readConfiguration(base).adminJwt).toBeUndefined();
  });
});
