import { expect, test } from 'vitest';
import { WrongKeyLimit } from '../../src/admin/wrong-key-limit.js';
import { TestClock } from '../world/test-clock.js';

const ADDRESS = '203.0.113.1';
const HOUR = 3_600;

/** A limit that knows one valid key, and whose address has no attempt left. */
async function exhausted(clock: TestClock) {
  const limit = new WrongKeyLimit(clock);
  const ask = () => limit.lookUp(ADDRESS, 'valid', async () => true);
  await ask();
  const exhaust = async () => {
    for (let attempt = 0; attempt < 20; attempt += 1)
      await limit.lookUp(ADDRESS, `wrong ${attempt}`, async () => undefined);
  };
  return { ask, exhaust };
}

test('a key stays known although the time of day is set forwards', async () => {
  const clock = new TestClock();
  const { ask, exhaust } = await exhausted(clock);
  clock.step(2 * HOUR);
  await exhaust();
  expect(await ask()).toBe(true);
});

test('a key is known for an hour only, although the time of day is set back', async () => {
  const clock = new TestClock();
  const { ask, exhaust } = await exhausted(clock);
  clock.step(-2 * HOUR);
  clock.advance(HOUR + 1);
  await exhaust();
  await expect(ask()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
});
