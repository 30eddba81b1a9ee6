import { describe, expect, test } from 'vitest';
import { Audit } from '../../src/audit/audit.service.js';
import { batchOrder } from '../approvals/desk.js';
import { grantOrder } from '../world/grant-order.js';
import { OPERATOR, useWorld, type World } from '../world/world.js';
import { named } from '../../src/database/statement.js';

const world = useWorld();

type Item = Record<string, unknown>;

async function entries(query = ''): Promise<Item[]> {
  const reply = await world.admin('GET', `/v1/admin/audit?limit=500${query}`);
  expect([reply.status, reply.text.slice(0, 200)]).toEqual([200, expect.anything()]);
  return reply.json['items'] as Item[];
}

async function newest(target: string): Promise<Item> {
  const [item] = await entries(`&target=${encodeURIComponent(target)}`);
  return item!;
}

const HOOK = { name: 'Acme', webhookBaseUrl: 'http://127.0.0.1:9/hooks' };

describe("an administrator's action is recorded:", () => {
  test('a created provider, with actor, address, time and request', async () => {
    const before = Date.now();
    const headers = { 'X-Request-Id': 'create-acme' };
    const reply = await world.admin('POST', '/v1/admin/providers', { id: 'acme', ...HOOK }, headers);
    expect(reply.status).toBe(201);
    const item = await newest('provider:acme');
    expect(item).toMatchObject({
      actor: 'root',
      role: 'admin',
      action: 'provider.create',
      address: '127.0.0.1',
      requestId: 'create-acme',
      after: { id: 'acme', name: 'Acme', status: 'ACTIVE', webhookBaseUrl: HOOK.webhookBaseUrl },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(item).not.toHaveProperty('before');
    expect(JSON.stringify(item)).not.toContain(String(reply.json['secret']));
    expect(Date.parse(String(item['createdAt']))).toBeGreaterThanOrEqual(before - 1000);
  });

  test('a change, with before and after', async () => {
    await world.admin('POST', '/v1/admin/operators', {
      id: 'audited',
      name: 'Audited',
      walletBaseUrl: 'http://127.0.0.1:9',
    });
    await world.admin('PATCH', '/v1/admin/operators/audited', { status: 'DISABLED' });
    expect(await newest('operator:audited')).toMatchObject({
      action: 'operator.change',
      before: { status: 'ACTIVE', name: 'Audited' },
      after: { status: 'DISABLED', name: 'Audited' },
    });
  });

  test('a rotation, without the secret', async () => {
    await world.admin('POST', '/v1/admin/providers', { id: 'rotated', ...HOOK });
    const reply = await world.admin('POST', '/v1/admin/providers/rotated/secret/rotate', {
      overlapSeconds: 60,
    });
    const item = await newest('provider:rotated');
    expect(item).toMatchObject({
      action: 'provider.rotate-secret',
      after: { overlapSeconds: 60, previousValidUntil: reply.json['previousValidUntil'] },
    });
    expect(JSON.stringify(item)).not.toContain(String(reply.json['secret']));
  });

  test('a game, created and replaced', async () => {
    const game = { providerId: 'spinwell', name: 'Audited', status: 'ACTIVE' };
    await world.admin('PUT', '/v1/admin/games/audited', game);
    expect(await newest('game:audited')).toMatchObject({ action: 'game.create', after: game });
    await world.admin('PUT', '/v1/admin/games/audited', { ...game, name: 'Again' });
    expect(await newest('game:audited')).toMatchObject({
      action: 'game.replace',
      before: { name: 'Audited' },
      after: { name: 'Again' },
    });
  });

  test('a PATCH or PUT that changes nothing is not, and keeps updatedAt', async () => {
    const operator = {
      id: 'same-operator',
      name: 'Same',
      walletBaseUrl: 'http://127.0.0.1:9',
      currencies: ['EUR'],
    };
    const provider = { id: 'same-provider', ...HOOK };
    await world.admin('POST', '/v1/admin/operators', operator);
    await world.admin('POST', '/v1/admin/providers', provider);
    const game = { providerId: 'same-provider', name: 'Same', launchUrl: 'https://play.acme.example' };
    const cases = [
      [
        'PATCH',
        'operators/same-operator',
        'operator:same-operator',
        { currencies: ['EUR'], walletTimeoutMs: null },
      ],
      ['PATCH', 'providers/same-provider', 'provider:same-provider', { name: HOOK.name, status: 'ACTIVE' }],
      ['PUT', 'games/same', 'game:same', game],
    ] as const;
    await world.admin('PUT', '/v1/admin/games/same', game);
    for (const [method, path, target, body] of cases) {
      const before = (await world.admin('GET', `/v1/admin/${path}`)).json;
      const reply = await world.admin(method, `/v1/admin/${path}`, body);
      expect([reply.status, reply.json]).toEqual([200, before]);
      const actions = (await entries(`&target=${target}`)).map(({ action }) => action);
      expect(actions).toEqual([expect.stringMatching(/\.create$/)]);
    }
  });

  test('a key: created, used as the actor, revoked', async () => {
    const { id, key, actor, call } = await world.administrator('admin', 'Eve');
    await call('PATCH', '/v1/admin/providers/acme', { name: 'By Eve' });
    await world.admin('DELETE', `/v1/admin/keys/${id}`);
    const ofKey = await entries(`&target=key:${id}`);
    expect(ofKey.map((item) => item['action'])).toEqual(['key.revoke', 'key.create']);
    expect(ofKey[1]).toMatchObject({ after: { name: 'Eve', role: 'admin' } });
    expect(JSON.stringify(ofKey)).not.toContain(key);
    const byKey = await entries(`&actor=${actor}`);
    expect(byKey).toMatchObject([{ action: 'provider.change', target: 'provider:acme', role: 'admin' }]);
  });

  test('a sensitive read: of the keys, and of the log itself', async () => {
    await world.admin('GET', '/v1/admin/keys?limit=3');
    expect(await newest('keys')).toMatchObject({ action: 'key.list', after: { limit: 3 } });
    await world.admin('GET', '/v1/admin/audit?actor=nobody');
    const all = await entries('&action=audit.read');
    expect(all).toContainEqual(expect.objectContaining({ after: { actor: 'nobody' } }));
  });

  test('a read only if its query is valid, and only with parameters that the route knows', async () => {
    const junk = `junk=${'A'.repeat(15_000)}`;
    expect((await world.admin('GET', `/v1/admin/sessions?limit=7&${junk}`)).status).toBe(400);
    expect(await entries('&action=sessions.list')).toEqual([]);
    expect((await world.admin('GET', '/v1/admin/sessions?limit=7')).status).toBe(200);
    expect(await entries('&action=sessions.list')).toMatchObject([{ after: { limit: '7' } }]);
    expect((await world.admin('GET', `/v1/admin/overview?${junk}`)).status).toBe(200);
    expect((await newest('overview'))['after']).toEqual({});
  });

  test('a read of limits, with the amounts used, and a preview, which may show them', async () => {
    await world.admin('GET', '/v1/admin/limits?limit=3');
    expect(await newest('limits')).toMatchObject({ action: 'limits.list', after: { limit: '3' } });
    await world.admin('GET', `/v1/admin/limits/${OPERATOR}/EUR`);
    expect(await newest(`limit:${OPERATOR}/EUR`)).toMatchObject({ action: 'limit.read' });
    await world.admin('POST', '/v1/admin/free-spins/preview', grantOrder());
    expect(await newest(`limit:${OPERATOR}/EUR`)).toMatchObject({ action: 'free-spins.preview' });
    await world.admin('POST', '/v1/admin/free-spins/batches/preview', batchOrder(2, { currency: 'SEK' }));
    expect(await newest(`limit:${OPERATOR}/SEK`)).toMatchObject({ action: 'free-spins.preview' });
  });

  test('a revoked session of any operator', async () => {
    const { sessionId } = await world.launch();
    const path = `/v1/admin/sessions/${sessionId}/revoke`;
    expect((await world.admin('POST', path, { reason: 'FRAUD_HOLD' })).status).toBe(200);
    expect(await entries(`&target=session:${sessionId}`)).toMatchObject([
      { actor: 'root', role: 'admin', action: 'session.revoke', after: { reason: 'FRAUD_HOLD' } },
    ]);
  });

  test('but not an invalid request', async () => {
    const count = (await entries('&target=provider:acme')).length;
    await world.admin('PATCH', '/v1/admin/providers/acme', { webhookBaseUrl: 'nonsense' });
    await world.admin('PATCH', '/v1/admin/providers/nobody', { name: 'x' });
    expect(await entries('&target=provider:acme')).toHaveLength(count);
    expect(await entries('&target=provider:nobody')).toHaveLength(0);
  });
});

describe("an operator's action is recorded:", () => {
  test('a revoked session, once', async () => {
    const { sessionId } = await world.launch();
    await world.revoke(sessionId);
    await world.revoke(sessionId);
    expect(await entries(`&target=session:${sessionId}`)).toMatchObject([
      {
        actor: 'operator:lucky-casino',
        role: 'operator',
        action: 'session.revoke',
        after: { reason: 'KICK' },
      },
    ]);
  });

  test("a player's revoked sessions, as one", async () => {
    const [first, second] = [
      await world.launch({ playerRef: 'p-1' }),
      await world.launch({ playerRef: 'p-1' }),
    ];
    const body = { reason: 'SELF_EXCLUSION' };
    await world.signed('lucky-casino', '/v1/operator/players/p-1/revoke-sessions', body);
    const [item] = await entries('&target=player:lucky-casino/p-1');
    expect(item).toMatchObject({ action: 'player.revoke-sessions', after: { reason: 'SELF_EXCLUSION' } });
    const { sessions } = item!['after'] as { sessions: string[] };
    expect(sessions.sort()).toEqual([first.sessionId, second.sessionId].sort());
  });

  test('but not a launch, whose session is its record', async () => {
    const { sessionId } = await world.launch();
    expect(await entries(`&target=session:${sessionId}`)).toHaveLength(0);
    const [row] = await world.sql.run('SELECT operator_id, created_at FROM sessions WHERE session_id = $1', [
      sessionId,
    ]);
    expect(row).toMatchObject({ operator_id: 'lucky-casino' });
  });
});

describe('a change and its record', () => {
  test('are rolled back together', async () => {
    const audit = world.app.get(Audit);
    const actor = { actor: 'root', role: 'admin' };
    const write = named('test_rename', `UPDATE tenants SET name = 'Lost' WHERE id = 'spinwell'`);
    const failing = audit.change(actor, async ({ query }, record) => {
      await query(write, {});
      await record({ action: 'provider.change', target: 'lost' });
      throw new Error('after all');
    });
    await expect(failing).rejects.toThrow('after all');
    expect(await entries('&target=lost')).toHaveLength(0);
    expect((await world.admin('GET', '/v1/admin/providers/spinwell')).json['name']).toBe('spinwell');
  });

  test('are both missing if the record cannot be written', async () => {
    await world.sql.run('ALTER TABLE audit_entries ADD CONSTRAINT full_disk CHECK (false) NOT VALID');
    try {
      const reply = await world.admin('PATCH', '/v1/admin/providers/spinwell', { name: 'Unrecorded' });
      expect([reply.status, reply.json]).toEqual([500, { error: 'internal error' }]);
      expect((await world.admin('POST', '/v1/admin/keys', { name: 'x', role: 'admin' })).status).toBe(500);
      expect((await world.admin('GET', '/v1/admin/audit')).status).toBe(500);
    } finally {
      await world.sql.run('ALTER TABLE audit_entries DROP CONSTRAINT full_disk');
    }
    expect((await world.admin('GET', '/v1/admin/providers/spinwell')).json['name']).toBe('spinwell');
  });
});

describe('the list', () => {
  test('has every entry once, newest first', async () => {
    const whole = await entries();
    const seen: Item[] = [];
    // Each read is itself recorded, so older entries move down.
    for (let cursor: unknown; ;) {
      const { json } = await world.admin(
        'GET',
        `/v1/admin/audit?limit=7${cursor ? `&cursor=${String(cursor)}` : ''}`,
      );
      seen.push(...(json['items'] as Item[]));
      cursor = json['nextCursor'];
      if (cursor === undefined) break;
    }
    expect(new Set(seen.map((item) => item['hash'])).size).toBe(seen.length);
    expect(seen.slice(-whole.length)).toEqual(whole);
    const places = seen.map((item) => Number(item['position']));
    expect(places).toEqual([...places].sort((a, b) => b - a));
  });

  test('is filtered by the beginning of actions, in the same order and pages', async () => {
    const all = await entries();
    const expected = all.filter(({ action }) => String(action).startsWith('provider.'));
    expect(new Set(expected.map(({ action }) => action)).size).toBeGreaterThan(1);
    expect(await entries('&action=provider.*')).toEqual(expected);
    const first = (await world.admin('GET', '/v1/admin/audit?action=provider.*&limit=2')).json;
    const cursor = String(first['nextCursor']);
    const rest = await entries(`&action=provider.*&cursor=${cursor}`);
    expect([...(first['items'] as Item[]), ...rest]).toEqual(expected);
  });

  test('has only actions that are listed', async () => {
    const { items } = (await world.admin('GET', '/v1/admin/audit/actions')).json as { items: string[] };
    expect(items).toEqual(expect.arrayContaining(['key.create', 'limit.replace', 'search']));
    for (const { action } of await entries()) expect(items).toContain(action);
  });

  test('is bounded by time: from ≤ createdAt < to', async () => {
    const whole = await entries('&target=provider:acme');
    const [last] = whole;
    const at = encodeURIComponent(String(last?.['createdAt']));
    expect((await entries(`&target=provider:acme&from=${at}`)).map((item) => item['hash'])).toContain(
      last?.['hash'],
    );
    expect((await entries(`&target=provider:acme&to=${at}`)).map((item) => item['hash'])).not.toContain(
      last?.['hash'],
    );
  });

  test.each([
    'limit=0',
    'limit=501',
    'cursor=x',
    'cursor=MjAyNi0xMy00MC8x',
    'from=yesterday',
    'to=2026-13-01',
    'to=2026-02-30',
    'actor=a%00b',
    'action=%00',
    'action=provider.destroy',
    'action=provider',
    'action=provid.*',
    'action=*',
    'target=%00',
    'outcome=refused',
    'outcome=NOT_FOUND',
    'who=me',
  ])('refuses ?%s', async (query) => {
    const reply = await world.admin('GET', `/v1/admin/audit?${query}`);
    expect([reply.status, reply.headers.get('X-Error-Code')]).toEqual([400, 'INVALID_REQUEST']);
  });
});

test.each([
  'UPDATE audit_entries SET actor = $$nobody$$',
  'DELETE FROM audit_entries',
  'TRUNCATE audit_entries',
])('the database refuses: %s', async (statement) => {
  await expect(world.sql.run(statement)).rejects.toThrow('append-only');
});

test('of a hundred changes at once, on two instances, each begins where the one before it ended', async () => {
  const other = await world.another(world.clock);
  try {
    const rename = (at: World, i: number) =>
      at.admin('PATCH', '/v1/admin/providers/spinwell', { name: `name ${i}` });
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) => rename(i % 2 ? world : other, i)),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(100).fill(200));
  } finally {
    await other.app.close();
  }
  const changes = (await entries('&target=provider:spinwell')).slice(0, 100);
  for (const [i, change] of changes.slice(0, -1).entries()) {
    expect(change['before']).toMatchObject({ name: (changes[i + 1]?.['after'] as Item)['name'] });
  }
});
