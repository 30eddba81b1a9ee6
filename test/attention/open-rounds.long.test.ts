import { beforeAll, expect, test, vi } from 'vitest';
import { openRounds } from '../../src/attention/causes.js';
import { OpenRoundsStore, TRADING_PAIRS } from '../../src/attention/open-rounds.store.js';
import { OpenRoundsWatch } from '../../src/attention/open-rounds.watch.js';
import { Database } from '../../src/database/database.js';
import { PATIENCE } from '../world/patience.js';
import { OPERATOR, OTHER_OPERATOR, OTHER_PROVIDER, PROVIDER, useWorld } from '../world/world.js';

interface Item {
  readonly id: string;
  readonly subject: string;
  readonly state: string;
  readonly [field: string]: unknown;
}

const world = useWorld();

// The application counts once by itself, after its start.
beforeAll(() =>
  vi.waitUntil(
    async () => (await world.sql.run(`SELECT FROM attention_scans WHERE name = 'rounds'`)).length > 0,
    PATIENCE,
  ),
);

/** The newest item of a pair, which is in this state. */
async function itemOf(subject: string, state = 'OPEN'): Promise<Item> {
  const { items } = (await world.admin('GET', '/v1/admin/attention?kind=round&limit=500')).json;
  const item = (items as Item[]).find((each) => each.subject === subject);
  expect(item).toMatchObject({ state });
  return item!;
}

/** Inserts rounds that began `hours` ago and have an APPROVED transaction of each of these kinds. */
const rounds = (
  name: string,
  count: number,
  kinds: readonly string[],
  hours = 25,
  operatorId = OPERATOR,
  providerId = PROVIDER,
) =>
  world.sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, created_at)
     SELECT $1, $2 || $3 || kind || n, gen_random_uuid(), kind, 'APPROVED', $2, 'REAL', 'dora', 'g', 'EUR', 1, $3 || n, 1, '{}',
            clock_timestamp() - $6 * interval '1 hour'
       FROM generate_series(1, $4) n, unnest($5::text[]) kind`,
    [providerId, operatorId, name, count, kinds, hours],
  );

/** Runs the hourly count of open rounds now. */
async function countOpenRounds(): Promise<void> {
  await world.sql.run(`DELETE FROM attention_scans WHERE name IN ('rounds', 'rounds-begun')`);
  await world.app.get(OpenRoundsWatch).run(() => false);
}

test('an item counts the rounds that have been open for more than a day, at a provider that closes its rounds', async () => {
  await rounds('closed', 20, ['BET', 'WIN']);
  await rounds('open', 1, ['BET']);
  await countOpenRounds();
  const item = await itemOf(`${PROVIDER}/${OPERATOR}`);
  expect(item).toMatchObject({
    count: 1,
    summary: '1 round has been open for more than 24 hours',
    href: `/v1/admin/rounds?open=true&olderThanMinutes=1440&operatorId=${OPERATOR}&providerId=${PROVIDER}`,
  });
  const listed = await world.admin('GET', String(item['href']));
  expect([listed.status, listed.json['items']]).toMatchObject([200, [{ roundId: 'open1' }]]);
  await rounds('more', 1, ['BET']);
  await countOpenRounds();
  expect(await itemOf(item.subject)).toMatchObject({ id: item.id, count: 2 });
  // Open rounds count however old they are; only the share of closed rounds is limited to last week.
  await rounds('old', 5, ['BET'], 24 * 30);
  await countOpenRounds();
  expect(await itemOf(item.subject)).toMatchObject({ id: item.id, count: 7 });
  // 20 of 23 are less than 90 %: this provider does not close its rounds.
  await rounds('many', 1, ['BET']);
  await countOpenRounds();
  await itemOf(item.subject, 'CLOSED');
});

test('if the count of a pair fails, its item stays, and the other pairs are counted', async () => {
  const [one, other] = [`${PROVIDER}/${OPERATOR}`, `${PROVIDER}/${OTHER_OPERATOR}`];
  for (const operatorId of [OPERATOR, OTHER_OPERATOR]) {
    await rounds('also-closed', 100, ['BET', 'WIN'], 25, operatorId);
    await rounds('both', 1, ['BET'], 25, operatorId);
  }
  await countOpenRounds();
  const before = await itemOf(one);
  expect(await itemOf(other)).toMatchObject({ count: 1 });
  await rounds('another', 1, ['BET'], 25, OPERATOR);
  await rounds('another', 1, ['BET'], 25, OTHER_OPERATOR);
  const store = world.app.get(OpenRoundsStore);
  const count = store.count.bind(store);
  const failing = vi
    .spyOn(store, 'count')
    .mockImplementation((pair, limit) =>
      pair.operatorId === OPERATOR ? Promise.reject(new Error('statement timeout')) : count(pair, limit),
    );
  await countOpenRounds();
  failing.mockRestore();
  expect(await itemOf(one)).toMatchObject({ id: before.id, count: before['count'] });
  expect(await itemOf(other)).toMatchObject({ count: 2 });
});

test("if the search for a provider's pairs fails, its items stay, and those of the other providers change", async () => {
  const [one, other] = [`${PROVIDER}/${OPERATOR}`, `${OTHER_PROVIDER}/${OPERATOR}`];
  await rounds('closed', 20, ['BET', 'WIN'], 25, OPERATOR, OTHER_PROVIDER);
  await rounds('open', 1, ['BET'], 25, OPERATOR, OTHER_PROVIDER);
  await countOpenRounds();
  const before = await itemOf(one);
  expect(await itemOf(other)).toMatchObject({ count: 1 });
  await rounds('failing', 1, ['BET']);
  await rounds('failing', 1, ['BET'], 25, OPERATOR, OTHER_PROVIDER);
  const database = world.app.get(Database);
  const query = database.query;
  const failing = vi
    .spyOn(database, 'query')
    .mockImplementation((statement, values) =>
      statement === TRADING_PAIRS && (values as { providerId?: string }).providerId !== OTHER_PROVIDER
        ? Promise.reject(new Error('statement timeout'))
        : query(statement, values),
    );
  await countOpenRounds();
  failing.mockRestore();
  expect(await itemOf(one)).toMatchObject({ id: before.id, count: before['count'] });
  expect(await itemOf(other)).toMatchObject({ count: 2 });
});

/** Lets minutes pass since the counts. */
const later = (minutes: number) =>
  world.sql.run(
    `UPDATE attention_scans SET ran_at = ran_at - make_interval(mins => $1) WHERE name LIKE 'rounds%'`,
    [minutes],
  );

test('a count that did not end is repeated after ten minutes, another one after an hour', async () => {
  const watch = world.app.get(OpenRoundsWatch);
  const providers = vi.spyOn(world.app.get(OpenRoundsStore), 'providers');
  /** Whether a run begins to count. */
  const runs = async (mustStop = false) => {
    providers.mockClear();
    await watch.run(() => mustStop);
    return providers.mock.calls.length > 0;
  };
  await later(60);
  expect(await runs(true)).toBe(true);
  expect(await runs()).toBe(false);
  await later(10);
  expect(await runs()).toBe(true);
  await later(10);
  expect(await runs()).toBe(false);
  await later(50);
  expect(await runs()).toBe(true);
  providers.mockRestore();
});

test('a count that takes longer than ten minutes is not repeated meanwhile', async () => {
  const watch = world.app.get(OpenRoundsWatch);
  const store = world.app.get(OpenRoundsStore);
  const providers = vi.spyOn(store, 'providers');
  const count = store.count.bind(store);
  const slow = vi.spyOn(store, 'count').mockImplementation(async (pair, limit) => {
    // As another instance does meanwhile.
    await watch.run(() => true);
    await later(10);
    return count(pair, limit);
  });
  await later(60);
  await watch.run(() => false);
  expect(slow).toHaveBeenCalledTimes(3);
  expect(providers).toHaveBeenCalledTimes(1);
  slow.mockRestore();
  providers.mockRestore();
});

test('only the newest transactions are counted: the item says that there may be more rounds', async () => {
  await rounds('older', 3, ['BET'], 72);
  await rounds('newest', 2, ['BET'], 24.5);
  const pair = { operatorId: OPERATOR, providerId: PROVIDER };
  const count = (transactions: number) => world.app.get(OpenRoundsStore).count(pair, transactions);
  expect(await count(2)).toMatchObject({ open: 2, partial: true });
  expect(await count(1_000)).toMatchObject({ partial: false });
  expect(openRounds(pair, 2, true)).toMatchObject({
    summary: 'at least 2 rounds have been open for more than 24 hours',
  });
});
