import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/database/database.js';
import { GameStore } from '../../src/tenancy/game.store.js';
import { lockSecrets, lockSecretsOf } from '../../src/tenancy/secrets/encrypted-secret.store.js';
import { TenantStore } from '../../src/tenancy/tenant.store.js';
import { waitingForLocks } from '../world/locks.js';
import { GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';

let database: Database;
let tenants: TenantStore;
let games: GameStore;

const world = useWorld();
beforeAll(async () => {
  database = world.app.get(Database);
  tenants = world.app.get(TenantStore);
  games = world.app.get(GameStore);
});
beforeEach(() => world.sql.run(`UPDATE tenants SET status = 'ACTIVE'`));

const game = {
  gameId: GAME,
  providerId: PROVIDER,
  name: 'Renamed',
  status: 'ACTIVE' as const,
  launchUrl: null,
  roundDetailsUrl: null,
};

test('a change writes the columns that it names, and no other that was read before', async () => {
  const read = await tenants.find('OPERATOR', OPERATOR);
  expect(read).toMatchObject({ status: 'ACTIVE' });
  await world.sql.run(`UPDATE tenants SET status = 'DISABLED' WHERE id = $1`, [OPERATOR]);
  const changed = await database.transaction((transaction) =>
    tenants.change(transaction, 'OPERATOR', OPERATOR, { name: 'Renamed', status: undefined }),
  );
  expect(changed).toMatchObject({
    before: { name: OPERATOR, status: 'DISABLED' },
    after: { name: 'Renamed', status: 'DISABLED', createdAt: read!.createdAt },
  });
  expect(changed!.after.updatedAt.getTime()).toBeGreaterThan(read!.updatedAt.getTime());
});

test('a change of a tenant of the other kind changes nothing', async () => {
  const changed = database.transaction((transaction) =>
    tenants.change(transaction, 'PROVIDER', OPERATOR, { status: 'DISABLED' }),
  );
  expect(await changed).toBeUndefined();
  expect(await tenants.find('OPERATOR', OPERATOR)).toMatchObject({ status: 'ACTIVE' });
});

test('a second change waits for the first, and sees it', async () => {
  let second: ReturnType<typeof rename> | undefined;
  const rename = (name: string, first?: () => Promise<void>) =>
    database.transaction(async (transaction) => {
      const changed = await tenants.change(transaction, 'PROVIDER', PROVIDER, { name });
      await first?.();
      return changed;
    });
  await rename('first', async () => {
    second = rename('second');
    await expect.poll(() => waitingForLocks(world.sql)).toBe(1);
  });
  expect(await second).toMatchObject({ before: { name: 'first' }, after: { name: 'second' } });
});

describe('a launch does not wait for the end of', () => {
  test('a change of its operator', async () => {
    await database.transaction(async (transaction) => {
      await tenants.change(transaction, 'OPERATOR', OPERATOR, { name: 'Under way' });
      await world.launch();
    });
  });

  test('a change of its game', async () => {
    await database.transaction(async (transaction) => {
      await games.put(transaction, game);
      await world.launch();
    });
  });

  test('a transaction that has locked the secrets of all tenants', async () => {
    await database.transaction(async ({ query }) => {
      await lockSecrets(query);
      await lockSecretsOf(query, 'OPERATOR', OPERATOR);
      await world.launch();
    });
  });
});

test('no record that is read carries a secret', async () => {
  const page = { after: '', limit: 10 };
  const change = database.transaction((transaction) =>
    tenants.change(transaction, 'PROVIDER', PROVIDER, { name: PROVIDER }),
  );
  const read = [tenants.find('PROVIDER', PROVIDER), tenants.list('OPERATOR', page), change];
  const text = JSON.stringify(await Promise.all(read));
  expect(text).toContain(PROVIDER);
  expect(text).not.toMatch(/secret|v[12]\./i);
});
