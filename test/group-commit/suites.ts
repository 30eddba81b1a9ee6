import { describe } from 'vitest';

/** The tests of money: the contract's tables, the races, the model, and the process that is killed. */
const SUITES = {
  transaction: () => import('../contract/transaction.test.js'),
  settlement: () => import('../contract/settlement.test.js'),
  demo: () => import('../contract/demo.test.js'),
  races: () => import('../races/races.test.js'),
  conditions: () => import('../races/conditions.test.js'),
  model: () => import('../rules/settling-model.long.test.js'),
  killed: () => import('../process/killed.long.test.js'),
};

/**
 * Declares the suites once more in this file, unchanged.
 * @param left the suites that are left out
 */
export function declareAgain(...left: (keyof typeof SUITES)[]): void {
  for (const [name, suite] of Object.entries(SUITES)) {
    if (left.includes(name as keyof typeof SUITES)) continue;
    describe(name, async () => {
      await suite();
    });
  }
}
