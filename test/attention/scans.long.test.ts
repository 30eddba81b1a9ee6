import { expect, test, vi } from 'vitest';
import { AttentionStore } from '../../src/attention/attention.store.js';
import { AttentionWatcher } from '../../src/attention/attention.watcher.js';
import { useWorld, type World } from '../world/world.js';

const world = useWorld();

test('a scan is due, although it ran later than now by a clock that was set back', async () => {
  const items = world.app.get(AttentionStore);
  await world.sql.run(
    `INSERT INTO attention_scans (name, ran_at) VALUES ('a scan', clock_timestamp() + interval '5 minutes')`,
  );
  expect(await items.isScanDue('a scan', 3_600)).toBe(true);
  expect(await items.claimScan('a scan', 3_600)).toBeTruthy();
  expect(await items.isScanDue('a scan', 3_600)).toBe(false);
  expect(await items.claimScan('a scan', 3_600)).toBeFalsy();
});

test('one instance makes all full passes, until it stops', async () => {
  const other = await world.another(world.clock);
  /** An instance whose next pass is always due, and which takes over from another one only after an hour. */
  const instance = ({ app }: World) => {
    const items = app.get(AttentionStore);
    const claimScan = items.claimScan.bind(items);
    const claims = vi
      .spyOn(items, 'claimScan')
      .mockImplementation((name, _, own) => claimScan(name, 3_600, own && { ...own, seconds: 0 }));
    const wake = vi.spyOn(items, 'wake');
    return {
      claims,
      passes: async () => {
        wake.mockClear();
        await app.get(AttentionWatcher).tick();
        return wake.mock.calls.length > 0;
      },
    };
  };
  const [one, two] = [instance(world), instance(other)];
  try {
    await world.sql.run(`DELETE FROM attention_scans WHERE name = 'causes'`);
    const [leader, follower] = (await one.passes()) ? [one, two] : [two, one];
    expect(await follower.passes()).toBe(false);
    expect(await leader.passes()).toBe(true);
    expect(await follower.passes()).toBe(false);
    leader.claims.mockResolvedValue(undefined);
    await world.sql.run(`UPDATE attention_scans SET ran_at = ran_at - interval '1 hour'`);
    // The background work of the follower may pass first, and is then the latest.
    expect(await follower.passes()).toBe(true);
    expect(await follower.passes()).toBe(true);
  } finally {
    vi.restoreAllMocks();
    await other.app.close();
  }
});
