import { PATIENCE_MS } from '../load/client.js';
import type { FaultRecord, Intent } from '../load/history.js';
import { SEQUENCES } from '../plan.js';
import { wasUnderWay } from './explanations.js';

/** The delays of BETs in calm times, in milliseconds, and those that took too long. */
export interface Delays {
  readonly calm: readonly number[];
  readonly violations: readonly string[];
}

/**
 * Judges the delays of the BETs that no fault can explain, without the tool's own lag. What the console's readers do
 * explains none.
 */
export function judgeDelays(intents: Iterable<Intent>, faults: readonly FaultRecord[]): Delays {
  const readers: readonly string[] = SEQUENCES.readers;
  const disturbing = faults.filter(({ fault }) => !readers.includes(fault.kind));
  const calm: number[] = [];
  const violations: string[] = [];
  for (const { request, answers } of intents) {
    if (request.kind !== 'BET') continue;
    for (const { sent, answered, instance, status, lagMs = 0 } of answers) {
      if (disturbing.some((fault) => wasUnderWay(fault, sent, answered))) continue;
      const tookMs = answered - sent - lagMs;
      calm.push(tookMs);
      if (status !== 0 || tookMs < PATIENCE_MS) continue;
      violations.push(
        `${request.transactionId}: instance ${instance} gave no answer in ${tookMs} ms, without a fault`,
      );
    }
  }
  return { calm, violations };
}

/** @param fraction of the values that are at most as high as the result, 0 … 1 */
export function percentile(values: readonly number[], fraction: number): number | undefined {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * fraction) - 1)];
}
