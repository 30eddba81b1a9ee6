import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BUGS } from '../../chaos/simulation/database.js';
import { simulate } from '../../chaos/simulation/simulation.js';

/** A fixed seed, so that runs are repeatable. `npm run simulate` draws others. */
const SEED = 1;
const SECONDS = 60;

describe('in the simulation', () => {
  test('every schedule keeps all invariants, and all dangerous situations occur', async () => {
    const { failure, coverage } = await simulate({ seed: SEED, schedules: 3000, seconds: SECONDS });
    expect(failure).toBeUndefined();
    for (const [situation, count] of Object.entries(coverage)) {
      expect({ situation, met: count > 20 }).toEqual({ situation, met: true });
    }
  }, 90_000);

  test.each(BUGS)(
    'the planted bug %s is found',
    async (bug) => {
      const { failure } = await simulate({ seed: SEED, schedules: 100_000, seconds: SECONDS, bug });
      expect(failure?.violations.length).toBeGreaterThan(0);
      const again = await simulate({ seed: failure!.seed, schedules: 1, seconds: SECONDS, bug });
      expect(again.failure).toEqual(failure);
    },
    90_000,
  );
});

test('npm run simulate compiles to a program that runs', async () => {
  const run = promisify(execFile);
  await run('npx', ['tsc', '-p', 'chaos']);
  const program = ['chaos/dist/chaos/simulation/simulate.js', '--seed', '1', '--schedules', '20'];
  const { stdout } = await run(process.execPath, program);
  expect(stdout).toContain('20 schedules');
}, 120_000);
