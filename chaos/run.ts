import type { Parts, Plan } from './plan.js';

export interface Run {
  readonly seed: number;
  readonly minutes: number;
  readonly parts: Parts;
  readonly plan: Plan;
  /** Factor on the rates of all faults. */
  readonly faultRate: number;
  readonly sideBySide: number;
  readonly folder: string;
}

/** Measurements of the run. */
export interface Measured {
  readonly began: Date;
  readonly seconds: number;
  readonly intents: number;
  readonly answers: number;
  /** From the end of the faults until every intent was definite. */
  readonly settledSeconds: number;
  /** The lag of the tool's own event loop: its sum and the longest one, in milliseconds. */
  readonly lag: { readonly sumMs: number; readonly longestMs: number };
  /** Number of times at which the overviews were compared during the load. */
  readonly quietPoints: number;
  readonly versions: readonly string[];
}
