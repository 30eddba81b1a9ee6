import { expect, test } from 'vitest';
import { ActivityStore } from '../../src/wallet/activity/activity.store.js';
import { MinuteCounts } from '../../src/wallet/activity/minute-counts.js';
import { useWorld } from '../world/world.js';

const world = useWorld();

test('amounts of an hour that exceed 2^53−1 are shown as 2^53−1', async () => {
  const store = world.app.get(ActivityStore);
  const [{ number }] = (await world.sql.run<{ number: number }>(
    'SELECT floor(extract(epoch FROM now()) / 60)::integer AS number',
  )) as [{ number: number }];
  for (const instance of ['one', 'two']) {
    const minute = new MinuteCounts(number);
    // More than a bigint can hold.
    for (let n = 0; n < 1_100; n += 1) minute.add('XTS', 'betMinor', Number.MAX_SAFE_INTEGER);
    minute.add('XTS', 'winMinor', Number.MAX_SAFE_INTEGER);
    await store.share(instance, [minute]);
  }
  const { MAX_SAFE_INTEGER } = Number;
  const amounts = await store.amounts();
  expect(amounts.filter(({ currency }) => currency === 'XTS')).toEqual([
    { currency: 'XTS', betMinor: MAX_SAFE_INTEGER, winMinor: MAX_SAFE_INTEGER },
  ]);
});
