import type { Cause } from '../attention/attention.js';
import { money } from '../money/money.js';
import type { Outcome, TransactionFinding } from './comparison.js';
import type { Range } from './reconciliation.store.js';

/** Maximum number of findings that are put into the attention queue. More findings probably have a common cause. */
export const RECORDED = 10_000;

/** Describes a finding in one sentence, with its amount in major units. */
export function sentenceOf(found: TransactionFinding): string {
  const { name, providerId, transactionId, kind, amountMinor, currency, detail } = found;
  return `${name}: ${kind} ${providerId}/${transactionId} of ${money(amountMinor, currency)}: ${detail}`;
}

/** The causes of the attention items. A later run with the same finding opens no second item. */
export function causesOf(range: Range, { found }: Pick<Outcome, 'found'>): Cause[] {
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
