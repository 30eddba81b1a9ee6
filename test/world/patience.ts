import { setTimeout as sleep } from 'node:timers/promises';

/**
 * For `vi.waitFor` and `vi.waitUntil`, which otherwise give up after a second: machines differ in speed by five times, and
 * other files run beside this one. The limit only ends a test that has failed.
 */
export const PATIENCE = { timeout: 15_000, interval: 20 };

/** Waits for a condition; the test's own time-out bounds it. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(PATIENCE.interval);
}
