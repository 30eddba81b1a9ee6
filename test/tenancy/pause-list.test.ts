import { beforeEach, expect, test } from 'vitest';
import { GAME, OPERATOR, OTHER_GAME, PROVIDER, useWorld } from '../world/world.js';

const PATHS = { OPERATOR: 'operators', PROVIDER: 'providers', GAME: 'games' } as const;
const UNTIL = '2099-01-31T06:00:00.000Z';

const world = useWorld();

const pause = (kind: keyof typeof PATHS, id: string, body: object) =>
  world.admin('POST', `/v1/admin/${PATHS[kind]}/${id}/pause`, { reason: 'moved', ...body });
const list = async (query = '') => (await world.admin('GET', `/v1/admin/pauses${query}`)).json;

beforeEach(async () => {
  await world.sql.run('DELETE FROM pauses');
  await pause('OPERATOR', OPERATOR, { until: UNTIL });
  await pause('PROVIDER', PROVIDER, {});
  await pause('GAME', GAME, {});
  await pause('GAME', OTHER_GAME, {});
});

test('what is paused is listed by kind and id', async () => {
  const since = expect.stringMatching(/^20.*Z$/) as string;
  const common = { reason: 'moved', since, by: 'root' };
  expect(await list()).toEqual({
    items: [
      { kind: 'GAME', id: GAME, ...common },
      { kind: 'GAME', id: OTHER_GAME, ...common },
      { kind: 'OPERATOR', id: OPERATOR, ...common, until: UNTIL },
      { kind: 'PROVIDER', id: PROVIDER, ...common },
    ],
  });
});

test('a pause that has ended or was resumed is not listed', async () => {
  await world.sql.run(`UPDATE pauses SET until = statement_timestamp() WHERE kind = 'OPERATOR'`);
  await world.admin('POST', `/v1/admin/games/${GAME}/resume`);
  const { items } = (await list()) as { items: { id: string }[] };
  expect(items.map(({ id }) => id)).toEqual([OTHER_GAME, PROVIDER]);
});

test('the pages have each pause once, and a foreign cursor is refused', async () => {
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const { items, nextCursor } = await list(`?limit=1${cursor}`);
    seen.push(...(items as { id: string }[]).map(({ id }) => id));
    if (nextCursor === undefined) break;
    cursor = `&cursor=${String(nextCursor)}`;
  }
  expect(seen).toEqual([GAME, OTHER_GAME, OPERATOR, PROVIDER]);
  for (const place of ['GAME', 'GAME/', 'GAME/a b', 'ROUND/x', '']) {
    const cursor = Buffer.from(place).toString('base64url');
    const reply = await world.admin('GET', `/v1/admin/pauses?cursor=${cursor}`);
    expect([place, reply.status]).toEqual([place, 400]);
  }
});
