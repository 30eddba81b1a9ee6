import type { Cause } from '../attention/attention.js';
import { recordFindings } from '../attention/findings.js';
import type { Database, Query } from '../database/database.js';
import { type Outcome, totalOf, type TransactionFinding } from './comparison.js';
import type { Range } from './reconciliation.store.js';
import { sentenceOf } from './recorded-findings.js';
import { lockReconciliations } from './stored-reconciliation.store.js';

export interface Recorded {
  readonly opened: number;
  readonly closed: number;
  /** Whether the outcome has all findings of the range. If not, no item was closed. */
  readonly complete: boolean;
}

/**
 * Puts the findings into the attention queue, and closes the items of the range whose finding is gone. A later run with
 * the same finding opens no second item.
 * @param query runs in a transaction that has called `lockReconciliations`
 * @param outcome with at most `RECORDED` findings
 * @param by the actor that opens the items, as their history shows it
 */
export async function record(query: Query, range: Range, outcome: Outcome, by: string): Promise<Recorded> {
  const complete = totalOf(outcome) === outcome.found.length;
  const { opened, ended } = await recordFindings(query, range, causesOf(range, outcome), complete, by);
  return { opened, closed: ended, complete };
}

/**
 * Records the findings in a transaction of its own, once it holds the lock of the operator's reconciliations: the lock
 * of the run may have been lost with its connection.
 */
export function recordInTransaction(
  database: Pick<Database, 'transaction'>,
  range: Range,
  outcome: Outcome,
  by: string,
): Promise<Recorded> {
  return database.transaction(async ({ query }) => {
    await lockReconciliations(query, range.operatorId);
    return record(query, range, outcome, by);
  });
}

function causesOf(range: Range, { found }: Outcome): Cause[] {
  return found.map((finding) => causeOfFinding(range, finding));
}

function causeOfFinding({ operatorId, from, to }: Range, found: TransactionFinding): Cause {
  const { name, isRecorded, providerId, transactionId } = found;
  const path = [providerId, transactionId].map(encodeURIComponent).join('/');
  return {
    kind: 'reconciliation',
    subject: `${operatorId}/${providerId}/${transactionId}/${name}`,
    operatorId,
    providerId,
    summary: sentenceOf(found),
    ...(isRecorded && { href: `/v1/admin/transactions/${path}` }),
    range: { from, to },
  };
}
