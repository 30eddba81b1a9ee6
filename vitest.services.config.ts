import { configDefaults, defineConfig } from 'vitest/config';
import { world } from './vitest.config.js';

/** The tests of `npm run test:services`: all tests, except those that test/services.sh leaves out. */
export default defineConfig({
  test: {
    ...world,
    // Most of these tests wait: for time-outs, processes and browsers.
    maxWorkers: 3,
    globalSetup: 'test/world/database.setup.ts',
    // What a file breaks on purpose must not stay in the modules that the next one uses.
    setupFiles: 'test/world/modules.setup.ts',
    testTimeout: 60_000,
    exclude: configDefaults.exclude,
  },
});
