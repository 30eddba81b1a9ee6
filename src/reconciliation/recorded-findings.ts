import { money } from '../money/money.js';
import type { TransactionFinding } from './comparison.js';

/** Maximum number of findings that are put into the attention queue. More findings probably have a common cause. */
export const RECORDED = 10_000;
/** Number of findings in the summary. */
export const FOUND_SHOWN = 10;

/** Describes a finding in one sentence, with its amount in major units, or with both amounts if they differ. */
export function sentenceOf(found: TransactionFinding): string {
  const { name, providerId, transactionId, kind, amountMinor, currency, detail } = found;
  // The detail of this finding has the amounts.
  const amount = name === 'amount-differs' ? '' : ` of ${money(amountMinor, currency)}`;
  return `${name}: ${kind} ${providerId}/${transactionId}${amount}: ${detail}`;
}
