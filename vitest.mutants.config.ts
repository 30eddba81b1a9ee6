import { defineConfig } from 'vitest/config';
import { unit } from './vitest.config.js';

/** The tests of `npm run mutants`: the unit tests of the rules that stryker.config.js mutates. */
export default defineConfig({
  ...unit,
  test: {
    ...unit.test,
    setupFiles: ['test/world/modules.setup.ts', 'test/world/properties.setup.ts'],
    include: [
      'test/{free-spins,limits,operator-wallet,reconciliation,rules,signature}/*.unit.test.ts',
      'sdk/test/{signature,test-vectors}.unit.test.ts',
    ],
  },
});
