import type { Behaviour } from '../reference-provider.js';

/** One mistake of a provider: its name, which steps it changes, and a case that finds it. */
export type Mutation = [
  name: string,
  changes: Partial<Behaviour> | (() => Partial<Behaviour>),
  found: string,
];

/** Resolves after this many milliseconds: work that takes time. */
export { setTimeout as delay } from 'node:timers/promises';
