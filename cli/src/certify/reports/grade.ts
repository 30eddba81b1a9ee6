import type { Latency } from '../outcome.js';

/** A class of latency. It is judged at the 95th percentile, and holds for loads below 1,000 calls a second. */
export type Grade = 'A' | 'B' | 'C';

const LIMITS = [
  { grade: 'A', p95Ms: 40 },
  { grade: 'B', p95Ms: 60 },
] as const;

export function gradeOf({ p95Ms }: Pick<Latency, 'p95Ms'>): Grade {
  return LIMITS.find((limit) => p95Ms <= limit.p95Ms)?.grade ?? 'C';
}
