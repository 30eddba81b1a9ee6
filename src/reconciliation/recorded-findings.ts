import type { Cause } from '../attention/attention.js';
import { money } from '../money/money.js';
import type { TransactionFinding, Range } from './reconciliation.js';

/** A finding in one sentence, with its amount as money. */
export function sentenceOf(found: TransactionFinding): string {
  const { name, providerId, transactionId, kind, amountMinor, currency, detail } = found;
  return `${name}: ${kind} ${providerId}/${transactionId} of ${money(amountMinor, currency)}: ${detail}`;
}

/** The cause of an item in the attention queue. The same finding in a later run is the same cause. */
export function causeOfFinding({ operatorId, from, to }: Range, found: TransactionFinding): Cause {
  const { name, providerId, transactionId } = found;
  const path = [providerId, transactionId].map(encodeURIComponent).join('/');
  return {
    kind: 'reconciliation',
    subject: `${operatorId}/${providerId}/${transactionId}/${name}`,
    operatorId,
    providerId,
    summary: sentenceOf(found),
    ...(name !== 'missing-at-platform' && { href: `/v1/admin/transactions/${path}` }),
    range: { from, to },
  };
}
