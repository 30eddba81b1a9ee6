import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROLES } from '../../src/admin/role.js';
import { bearer, startApplication, useWorld } from '../world/world.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

const world = useWorld();

test.each(ROLES)('a key of role %s reads who it is', async (role) => {
  const expiresAt = '2099-01-31T06:00:00.000Z';
  const { id, key } = (await world.admin('POST', '/v1/admin/keys', { name: 'Ada', role, expiresAt })).json;
  const me = await world.admin('GET', '/v1/admin/me', undefined, bearer(String(key)));
  expect(me.json).toEqual({
    actor: `key:${String(id)}`,
    name: 'Ada',
    role,
    expiresAt,
    environment: 'production',
    version,
    instance: UUID,
  });
});

test('the root key never expires', async () => {
  const root = { actor: 'root', name: 'root', role: 'admin' };
  const { json } = await world.admin('GET', '/v1/admin/me');
  expect(json).toEqual({ ...root, environment: 'production', version, instance: UUID });
});

test('each instance names itself, and a sandbox says that it is one', async () => {
  const instanceOf = async () => (await world.admin('GET', '/v1/admin/me')).json['instance'];
  const other = await startApplication({ DATABASE_URL: world.databaseUrl, SANDBOX: 'true' }, world.clock);
  const headers = bearer(other.configuration.adminApiKey);
  const answer = await fetch(`${other.url}/v1/admin/me`, { headers });
  const json = (await answer.json()) as Record<string, unknown>;
  await other.app.close();
  expect(json).toMatchObject({ environment: 'sandbox', instance: UUID });
  const own = await instanceOf();
  expect(own).not.toBe(json['instance']);
  expect(await instanceOf()).toBe(own);
});
