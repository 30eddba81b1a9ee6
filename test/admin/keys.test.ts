import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, startApplication, useWorld, type Reply } from '../world/world.js';

/** A second instance on the same database. */
let other: Awaited<ReturnType<typeof startApplication>>;

const world = useWorld({ TRUST_PROXY: 'loopback', DOCS_ENABLED: 'true' });
beforeAll(async () => {
  other = await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock);
});

afterAll(() => other.app.close());

function ask(
  key: string,
  {
    method = 'GET',
    path = '/v1/admin/providers',
    from = '198.51.100.1',
    body = undefined as object | undefined,
  } = {},
): Promise<Reply> {
  return world.admin(method, path, body, { ...bearer(key), 'X-Forwarded-For': from });
}

async function listed(): Promise<Record<string, unknown>[]> {
  const reply = await world.admin('GET', '/v1/admin/keys?limit=500');
  expect(reply.status).toBe(200);
  return reply.json['items'] as Record<string, unknown>[];
}

describe('a key', () => {
  test('is shown once and admits to the routes of its role', async () => {
    const reply = await world.admin('POST', '/v1/admin/keys', { name: 'Night shift', role: 'support' });
    expect(reply.status).toBe(201);
    const { id, key, createdAt } = reply.json;
    expect(reply.json).toEqual({
      id,
      name: 'Night shift',
      role: 'support',
      createdAt,
      lastUsedAt: null,
      key,
    });
    expect(key).toMatch(/^[\w-]{43}$/);
    const found = (await listed()).find((item) => item['id'] === id);
    expect(found).toEqual({ id, name: 'Night shift', role: 'support', createdAt, lastUsedAt: null });
    expect((await ask(String(key))).status).toBe(200);
  });

  test('is stored only as its SHA-256', async () => {
    const { id, key } = await world.administrator('admin');
    const [row] = await world.sql.run<{ row: string }>(
      'SELECT row_to_json(k)::text AS row FROM admin_keys k WHERE id = $1',
      [id],
    );
    expect(row?.row).not.toContain(key);
    const [hashed] = await world.sql.run(`SELECT FROM admin_keys WHERE key_hash = sha256($1::bytea)`, [key]);
    expect(hashed).toBeDefined();
  });

  const ROUTES: [string, string, object | undefined][] = [
    ['POST', '/v1/admin/keys', { name: 'x', role: 'support' }],
    ['GET', '/v1/admin/keys', undefined],
    ['DELETE', '/v1/admin/keys/00000000-0000-4000-8000-000000000000', undefined],
    ['POST', '/v1/admin/providers', {}],
    ['PATCH', '/v1/admin/operators/lucky-casino', {}],
    ['POST', '/v1/admin/providers/spinwell/secret/rotate', {}],
    ['PUT', '/v1/admin/games/x', {}],
  ];
  test.each(['auditor', 'support', 'promotions', 'operations'])(
    'of role %s changes nothing',
    async (role) => {
      const { key } = await world.administrator(role);
      for (const [method, path, body] of ROUTES) {
        const reply = await ask(key, { method, path, ...(body && { body }) });
        expect([path, reply.status]).toEqual([path, 403]);
        expect(reply.headers.get('X-Error-Code')).toBe('FORBIDDEN');
      }
      for (const path of ['/v1/admin/providers', '/v1/admin/games', '/v1/admin/audit']) {
        expect([path, (await ask(key, { path })).status]).toEqual([path, 200]);
      }
    },
  );

  test('of role admin creates further keys, until it is revoked', async () => {
    const { key } = await world.administrator('admin');
    const body = { name: 'Further', role: 'admin' };
    expect((await ask(key, { method: 'POST', path: '/v1/admin/keys', body })).status).toBe(201);
  });

  test.each([
    [{ role: 'admin' }, 'name'],
    [{ name: '', role: 'admin' }, 'name'],
    [{ name: ' ', role: 'admin' }, 'name'],
    [{ name: 'x\ny', role: 'admin' }, 'name'],
    [{ name: 'x'.repeat(129), role: 'admin' }, 'name'],
    [{ name: 'x' }, 'role'],
    [{ name: 'x', role: 'root' }, 'role'],
    [{ name: 'x', role: ['admin'] }, 'role'],
    [{ name: 'x', role: 'admin', key: 'mine' }, 'key'],
    [{ name: 'x', role: 'admin', expiresAt: '2026-01-31' }, 'expiresAt must be in the future'],
    [{ name: 'x', role: 'admin', expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ name: 'x', role: 'admin', expiresAt: 4102444800 }, 'expiresAt'],
  ])('is not created from %j', async (body, named) => {
    const reply = await world.admin('POST', '/v1/admin/keys', body);
    expect(reply.status).toBe(400);
    expect(reply.json['error']).toContain(named);
  });
});

describe('a revoked key', () => {
  test('is refused at once, on every instance', async () => {
    const { id, key } = await world.administrator('admin');
    const authorization = { headers: bearer(key) };
    expect((await fetch(`${other.url}/v1/admin/providers`, authorization)).status).toBe(200);
    const reply = await world.admin('DELETE', `/v1/admin/keys/${id}`);
    expect([reply.status, reply.text, reply.headers.get('content-length')]).toEqual([204, '', null]);
    expect((await fetch(`${other.url}/v1/admin/providers`, authorization)).status).toBe(401);
    expect((await ask(key)).status).toBe(401);
    expect((await listed()).map((item) => item['id'])).not.toContain(id);
    expect((await world.admin('DELETE', `/v1/admin/keys/${id}`)).status).toBe(404);
  });

  test.each(['x', '00000000-0000-4000-8000-000000000000'])('that is unknown is a 404: %s', async (id) => {
    expect((await world.admin('DELETE', `/v1/admin/keys/${id}`)).status).toBe(404);
  });
});

describe('a key with an expiry', () => {
  const EXPIRES = '2099-01-31T06:00:00.000Z';
  const request = { name: 'Auditors', role: 'auditor', expiresAt: '2099-01-31T07:00:00+01:00' };

  test('is shown, listed and recorded with it', async () => {
    const { id, expiresAt } = (await world.admin('POST', '/v1/admin/keys', request)).json;
    expect(expiresAt).toBe(EXPIRES);
    expect((await listed()).find((item) => item['id'] === id)).toMatchObject({ expiresAt: EXPIRES });
    const { items } = (await world.admin('GET', `/v1/admin/audit?target=key:${String(id)}`)).json;
    expect(items).toMatchObject([{ action: 'key.create', after: { role: 'auditor', expiresAt: EXPIRES } }]);
  });

  test('is refused on every instance once it has expired, and stays in the list until it is revoked', async () => {
    const { id, key } = (await world.admin('POST', '/v1/admin/keys', request)).json;
    const headers = bearer(String(key));
    const statuses = async () => [
      (await ask(String(key), { from: '198.51.100.7' })).status,
      (await fetch(`${other.url}/v1/admin/providers`, { headers })).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    const expire = 'UPDATE admin_keys SET expires_at = statement_timestamp() WHERE id = $1';
    await world.sql.run(expire, [id]);
    expect(await statuses()).toEqual([401, 401]);
    expect((await listed()).map((item) => item['id'])).toContain(id);
    expect((await world.admin('DELETE', `/v1/admin/keys/${String(id)}`)).status).toBe(204);
  });
});

test('the last use of a key is shown, and written at most once a minute', async () => {
  const { id, key } = await world.administrator('support');
  const lastUsed = async () => (await listed()).find((item) => item['id'] === id)?.['lastUsedAt'];
  await ask(key);
  const first = await lastUsed();
  expect(Math.abs(Date.parse(String(first)) - world.clock.now().getTime())).toBeLessThan(10_000);
  const age = (seconds: number) =>
    world.sql.run(
      'UPDATE admin_keys SET last_used_at = last_used_at - make_interval(secs => $2) WHERE id = $1',
      [id, seconds],
    );
  await age(30);
  const aged = await lastUsed();
  await ask(key);
  expect(await lastUsed()).toBe(aged);
  await age(31);
  await Promise.all(Array.from({ length: 10 }, () => ask(key)));
  expect(Date.parse(String(await lastUsed())) - Date.parse(String(aged))).toBeGreaterThanOrEqual(30_000);
  expect(Date.parse(String(await lastUsed()))).toBeGreaterThanOrEqual(Date.parse(String(first)));
});

test('the list has every live key once, newest first', async () => {
  for (const name of ['a', 'b', 'c']) await world.administrator('support', name);
  const seen: string[] = [];
  for (let cursor: unknown; ;) {
    const query = cursor === undefined ? '?limit=2' : `?limit=2&cursor=${String(cursor)}`;
    const { json } = await world.admin('GET', `/v1/admin/keys${query}`);
    seen.push(...(json['items'] as { id: string }[]).map(({ id }) => id));
    cursor = json['nextCursor'];
    if (cursor === undefined) break;
  }
  const whole = await listed();
  expect(seen).toEqual(whole.map((item) => item['id']));
  const times = whole.map((item) => String(item['createdAt']));
  expect(times).toEqual([...times].sort().reverse());
});

test('the routes of keys and of the audit log are documented with their refusals', async () => {
  const document = (await world.request('/docs/admin-json')).json as {
    paths: Record<string, Record<string, { security?: unknown; responses: object; requestBody?: unknown }>>;
  };
  const expected: [string, string, string[]][] = [
    ['/v1/admin/keys', 'post', ['201', '400', '401', '403', '413', '415', '429', '500']],
    ['/v1/admin/keys', 'get', ['200', '400', '401', '403', '429', '500']],
    ['/v1/admin/keys/{id}', 'delete', ['204', '400', '401', '403', '404', '413', '415', '429', '500']],
    ['/v1/admin/audit', 'get', ['200', '400', '401', '403', '429', '500']],
  ];
  for (const [path, method, statuses] of expected) {
    const operation = document.paths[path]?.[method];
    expect(operation?.security).toEqual([{ 'admin-key': [] }]);
    expect(Object.keys(operation?.responses ?? {}).sort()).toEqual(statuses);
    expect(operation?.requestBody !== undefined).toBe(method === 'post');
  }
});
