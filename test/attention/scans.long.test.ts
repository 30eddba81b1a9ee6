import { expect, test } from 'vitest';
import { AttentionStore } from '../../src/attention/attention.store.js';
import { useWorld } from '../world/world.js';

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
