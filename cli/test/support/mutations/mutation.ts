import type { Behaviour } from '../reference-provider.js';

/**
 * One mistake of a provider: its name, which steps it changes, and a case that finds it, alone or only after the other
 * cases.
 */
export type Mutation = [
  name: string,
  changes: Partial<Behaviour> | (() => Partial<Behaviour>),
  found: string,
  needs?: 'whole run',
];

/** Resolves after this many milliseconds: work that takes time. */
export { setTimeout as delay } from 'node:timers/promises';

/** How long a planted race stays open, in milliseconds: on a busy machine, calls at once arrive far apart. */
export const RACE_MS = 100;
