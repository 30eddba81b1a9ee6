import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { rejectInfrastructure } from './test/world/unit-guard.js';

const UNIT_TESTS = '**/*.unit.test.ts';

const shared = {
  pool: 'forks',
  maxWorkers: 2,
  // The files of a worker share its process and the loaded modules: loading them again takes longer than most files.
  isolate: false,
  testTimeout: 20_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 15_000 } },
} as const;

/** Rules, pure functions and parsers: these tests need neither a database nor the application. */
export const unit: TestProjectInlineConfiguration = {
  plugins: [rejectInfrastructure()],
  test: {
    ...shared,
    name: 'unit',
    include: [UNIT_TESTS],
    // Stryker's copies of the repository.
    exclude: [...configDefaults.exclude, '.stryker/**'],
  },
};

/** All other tests: they may start the application on a database of their own. */
export const world = {
  ...shared,
  include: ['test/**/*.test.ts', 'sdk/test/**/*.test.ts', 'cli/test/**/*.test.ts'],
  globalSetup: ['test/world/database.setup.ts', 'test/world/left-out.setup.ts'],
};

/**
 * What `npm run test:services` leaves out. These tests need neither a database nor Redis, start a database of their own,
 * compare plans, which are those of one version of PostgreSQL, or repeat other tests: through the documents or the
 * console, without group commit, or always in its batch form.
 */
export const WITHOUT_SERVICES = [
  UNIT_TESTS,
  '**/plans*.test.ts',
  'sdk/test/!(*.world).test.ts',
  'cli/test/**/*.test.ts',
  'test/{config,http,docs,sandbox,process,console,model,packaging,chaos}/**/*.test.ts',
  'test/reconciliation/large-statements.long.test.ts',
  'test/embedded-postgres/embedded-postgres.long.test.ts',
  'test/group-commit/{one-by-one,always-batched}.long.test.ts',
];

/** What the longer suites share. */
export const long = {
  ...world,
  // Most of these tests wait: for time-outs, processes and browsers.
  maxWorkers: 3,
  globalSetup: 'test/world/database.setup.ts',
  // What a file breaks on purpose must not stay in the modules that the next one uses.
  setupFiles: 'test/world/modules.setup.ts',
  // Some tests start the built service several times, which takes long on a slow machine.
  testTimeout: 60_000,
};

/** The tests of `npm test`; vitest.long.config.ts has those that take too long to run each time. */
export default defineConfig({
  test: {
    projects: [
      unit,
      {
        test: {
          ...world,
          name: 'world',
          exclude: [...configDefaults.exclude, UNIT_TESTS, '**/*.long.test.ts'],
        },
      },
    ],
  },
});
