import type { FaultRecord } from '../load/history.js';
import type { Refusal } from '../load/readers.js';
import { disturbs, wasUnderWay } from './explanations.js';

/**
 * The statuses of a refusal while the database or Redis is unavailable, or the instance stops; 408 if it was suspended for
 * longer than the server waits for a request.
 */
const DISTURBED: readonly number[] = [408, 500, 503];

/** Finds the refusals of the console's readers that no fault explains. */
export function judgeRefusals(refusals: readonly Refusal[], faults: readonly FaultRecord[]): string[] {
  return refusals
    .filter(({ status, instance, asked, answered }) => {
      const isExplained = (record: FaultRecord) =>
        disturbs(record.fault, instance) && wasUnderWay(record, asked, answered);
      return !DISTURBED.includes(status) || !faults.some(isExplained);
    })
    .map(({ route, instance, status, code = 'without a code', answered }) => {
      const unexplained = DISTURBED.includes(status) ? ', without a fault that explains it' : '';
      const answer = `${status} (${code}) at ${new Date(answered).toISOString()}`;
      return `a reader of the ${route} at instance ${instance} was answered ${answer}${unexplained}`;
    });
}
