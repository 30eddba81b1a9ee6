import { configDefaults, defineConfig } from 'vitest/config';
import { long } from './vitest.config.js';

/**
 * The tests of `npm run test:long`: built processes, restarts and faults, browsers, and the money tests without group
 * commit, always batched, and without fresh claims. The tests in test/engines/ need Debian's PostgreSQL, PgBouncer and
 * Redis; `npm run test:services` runs them.
 */
export default defineConfig({
  test: {
    ...long,
    include: ['test/**/*.long.test.ts', 'sdk/test/**/*.long.test.ts', 'cli/test/**/*.long.test.ts'],
    exclude: [...configDefaults.exclude, 'test/engines/**'],
  },
});
