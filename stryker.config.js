/**
 * Mutation tests: Stryker changes the rules that decide about money one operator or value at a time, and each change has
 * to fail a unit test.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: [
    'src/wallet/rules/*.ts',
    'src/free-spins/rules/*.ts',
    'src/limits/rules/*.ts',
    'src/operator-wallet/rules/*.ts',
    'src/operator-wallet/wallet-answers.ts',
    'src/reconciliation/rules/*.ts',
    'src/signature/nonce-memory.ts',
    'sdk/src/signature.ts',
  ],
  testRunner: 'vitest',
  // Vitest's search for related tests resolves the imports that test/world/unit-guard.ts rejects.
  vitest: { configFile: 'vitest.mutants.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // A time-out counts as noticed, so a busy machine must not cause one. Stryker ends most endless loops by counting.
  timeoutMS: 30_000,
  // Vitest strips types without checking them, so a mutant needs no directive that silences the compiler.
  disableTypeChecks: false,
  reporters: ['progress', 'clear-text', 'html', 'json'],
  clearTextReporter: { logTests: false, reportTests: false },
  tempDirName: '.stryker/sandboxes',
  htmlReporter: { fileName: '.stryker/mutants.html' },
  jsonReporter: { fileName: '.stryker/mutants.json' },
  ignorePatterns: ['/.stryker', 'dist', '/docs/images'],
  thresholds: { high: 95, low: 90, break: 90 },
};
