import { CONTROL_MUTANTS } from './control.js';
import { FREE_SPINS_MUTANTS } from './free-spins.js';
import type { SqlMutant } from './mutant.js';
import { WALLET_MUTANTS } from './wallet.js';

/** The mutants that the tests must kill. */
export const SQL_MUTANTS: readonly SqlMutant[] = [
  ...WALLET_MUTANTS,
  ...FREE_SPINS_MUTANTS,
  ...CONTROL_MUTANTS,
];
