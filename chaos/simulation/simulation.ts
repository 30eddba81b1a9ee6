import { Logger } from '@nestjs/common';
import type { Bug } from './database.js';
import { type Coverage, playSchedule } from './schedule.js';
import { withSimulatedTime } from './time.js';

export interface Simulated {
  readonly schedules: number;
  readonly seconds: number;
  readonly coverage: Readonly<Coverage>;
  /** The first schedule that violated an invariant. */
  readonly failure?: { readonly seed: number; readonly violations: readonly string[] };
}

/**
 * Plays schedules with consecutive seeds, from `seed`, until one violates an invariant.
 * @param schedules the maximum number of schedules
 * @param seconds the maximum time
 */
export function simulate(options: {
  readonly seed: number;
  readonly schedules: number;
  readonly seconds: number;
  readonly bug?: Bug | undefined;
}): Promise<Simulated> {
  const { seed: first, schedules, seconds: limit, bug } = options;
  Logger.overrideLogger(false);
  const began = Date.now();
  const elapsed = () => (Date.now() - began) / 1000;
  const coverage: Coverage = {
    takenOver: 0,
    fenced: 0,
    tombstones: 0,
    endedByPlatform: 0,
    inFlight: 0,
    misdelivered: 0,
    killed: 0,
    suspended: 0,
  };
  return withSimulatedTime(async () => {
    let played = 0;
    for (; played < schedules && elapsed() < limit; played += 1) {
      const seed = first + played;
      const { violations, coverage: of } = await playSchedule(seed, bug);
      // A schedule never returns to the event loop. This lets Node handle signals and messages of the test runner
      // between schedules.
      await new Promise((resolve) => setImmediate(resolve));
      for (const name of Object.keys(coverage) as (keyof Coverage)[]) coverage[name] += of[name];
      if (violations.length > 0) {
        return { schedules: played + 1, seconds: elapsed(), coverage, failure: { seed, violations } };
      }
    }
    return { schedules: played, seconds: elapsed(), coverage };
  });
}
