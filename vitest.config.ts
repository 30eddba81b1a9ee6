import { configDefaults, defineConfig } from 'vitest/config';

/** The tests of `npm test`; vitest.long.config.ts has those that take too long to run each time. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'sdk/test/**/*.test.ts', 'cli/test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, '**/*.long.test.ts'],
    globalSetup: ['test/world/database.setup.ts', 'test/world/left-out.setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A test file has its own instances of the project's modules, but not its own process: loading the framework again
    // takes longer than most files.
    isolate: false,
    setupFiles: 'test/world/modules.setup.ts',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
