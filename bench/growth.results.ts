import type { Listing } from './desk.load.js';
import type { Measurement, Ratio } from './measure.js';
import type { MemoryAfter } from './memory.js';

export interface Amounts {
  readonly transactions: number;
  readonly sessions: number;
  /** Number of providers and operators, each provider with a game. */
  readonly tenants: number;
}

export interface Grown {
  readonly amounts: Amounts;
  readonly seedSeconds: number;
  readonly databaseMiB: number;
  readonly memoryMiB: number;
  /**
   * BETs over 32 connections, with much data and with little; `ratio` is the first relative to the second, in
   * neighbouring slices.
   */
  readonly bets: Omit<Measurement, 'memoryMiB'>;
  readonly little: Omit<Measurement, 'memoryMiB'>;
  readonly ratio: Ratio;
  readonly listings: readonly Listing[];
  /** The duration of each batch of 1,000 players. */
  readonly batchSeconds: readonly number[];
}

export interface Growth {
  readonly at: string;
  readonly machine: object;
  readonly settings: object;
  readonly little: Amounts;
  readonly grown: readonly Grown[];
  readonly memory: readonly MemoryAfter[];
}
