import type { Listing } from './desk.load.js';
import type { Measurement, Ratio } from './measure.js';
import type { MemoryAfter } from './memory.js';

export interface Amounts {
  readonly transactions: number;
  readonly sessions: number;
  /** Number of providers and operators, each provider with a game. */
  readonly tenants: number;
}

/** BETs over 32 connections, with much data and with little, in neighbouring slices. */
export interface Compared {
  readonly much: Omit<Measurement, 'memoryMiB'>;
  readonly little: Omit<Measurement, 'memoryMiB'>;
  /** The first relative to the second. */
  readonly ratio: Ratio;
}

export interface Grown {
  readonly amounts: Amounts;
  readonly seedSeconds: number;
  readonly databaseMiB: number;
  readonly memoryMiB: number;
  /** BETs directly after a checkpoint, when PostgreSQL writes each page to the WAL that they change first. */
  readonly afterCheckpoint: Compared;
  /** BETs later, when PostgreSQL has written many of the pages. */
  readonly bets: Compared;
  /** Later BETs, each in another session, which the instance has not seen before; undefined if there are few sessions. */
  readonly firstBets: Compared | undefined;
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
