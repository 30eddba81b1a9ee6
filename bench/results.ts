import type { Name } from './contestants.js';
import type { Case } from './measure.js';
import type { machineOf } from './surroundings.js';
import type { Witnessed } from './witness.js';

/** A whole run, as bench/results/bench.json keeps it. */
export interface Results {
  readonly at: string;
  readonly machine: ReturnType<typeof machineOf>;
  readonly settings: Readonly<Record<string, string>>;
  readonly rounds: number;
  readonly contestants: readonly Name[];
  /** The contestant that all ratios refer to. */
  readonly reference: Name;
  readonly witnessed: readonly Witnessed[];
  readonly cases: readonly Case[];
}
