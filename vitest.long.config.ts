import { configDefaults, defineConfig } from 'vitest/config';
import { world } from './vitest.config.js';

/**
 * The tests of `npm run test:long`: built processes, restarts and faults, browsers, and the money tests without group
 * commit, always batched, and without fresh claims. The tests in test/engines/ need Debian's PostgreSQL, PgBouncer and
 * Redis; `npm run test:services` runs them.
 */
export default defineConfig({
  test: {
    ...world,
    // Most of these tests wait: for time-outs, processes and browsers.
    maxWorkers: 3,
    globalSetup: 'test/world/database.setup.ts',
    // What a file breaks on purpose must not stay in the modules that the next one uses.
    setupFiles: 'test/world/modules.setup.ts',
    // Some tests start the built service several times, which takes long on a slow machine.
    testTimeout: 60_000,
    include: ['test/**/*.long.test.ts', 'sdk/test/**/*.long.test.ts', 'cli/test/**/*.long.test.ts'],
    exclude: [...configDefaults.exclude, 'test/engines/**'],
  },
});
