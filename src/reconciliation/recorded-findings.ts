import type { Cause } from '../attention/attention.js';
import { money } from '../money/money.js';
import { visible } from '../runtime/visible.js';
import type { TransactionFinding, Range } from './reconciliation.js';

/** Describes a finding in one sentence, with its amount in major units. The statement's texts are made visible. */
export function sentenceOf(found: TransactionFinding): string {
  const { name, providerId, transactionId, kind, amountMinor, currency, detail } = found;
  return visible(
    `${name}: ${kind} ${providerId}/${transactionId} of ${money(amountMinor, currency)}: ${detail}`,
  );
}

/** The cause of the attention item for a finding. A later run with the same finding opens no second item. */
export function causeOfFinding({ operatorId, from, to }: Range, found: TransactionFinding): Cause {
  const { name, providerId, transactionId } = found;
  const path = [providerId, transactionId].map(encodeURIComponent).join('/');
  return {
    kind: 'reconciliation',
    subject: visible(`${operatorId}/${providerId}/${transactionId}/${name}`),
    operatorId,
    providerId,
    summary: sentenceOf(found),
    ...(name !== 'missing-at-platform' && { href: `/v1/admin/transactions/${path}` }),
    range: { from, to },
  };
}
