import { configDefaults, defineConfig } from 'vitest/config';
import quick from './vitest.config.js';

/**
 * The tests of `npm run test:long`: built processes, restarts and faults, browsers, and money in three more forms. Those of
 * test/engines/ need PostgreSQL, PgBouncer and Redis as Debian has them: `npm run test:services` runs them.
 */
export default defineConfig({
  ...quick,
  test: {
    ...quick.test,
    globalSetup: 'test/world/database.setup.ts',
    include: ['test/**/*.long.test.ts', 'sdk/test/**/*.long.test.ts'],
    exclude: [...configDefaults.exclude, 'test/engines/**'],
  },
});
