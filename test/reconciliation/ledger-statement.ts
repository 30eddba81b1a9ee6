import { HEADER } from '../../src/reconciliation/statement.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';

/** A line of a statement, as its fields. */
export type Line = Record<
  | 'providerId'
  | 'transactionId'
  | 'kind'
  | 'originalTransactionId'
  | 'playerRef'
  | 'currency'
  | 'amountMinor'
  | 'status'
  | 'bookedAt',
  string
>;

/** The operator's ledger as the lines of its statement. */
export function linesOf(entries: readonly LedgerEntry[]): Line[] {
  return entries.map((entry) => ({
    providerId: entry.providerId,
    transactionId: entry.transactionId,
    kind: entry.kind,
    originalTransactionId: entry.originalTransactionId ?? '',
    playerRef: entry.playerRef,
    currency: entry.currency,
    amountMinor: String(entry.amountMinor),
    status: entry.status,
    bookedAt: entry.bookedAt,
  }));
}

export function csvOf(lines: readonly Line[]): string {
  const names = HEADER.split(',') as (keyof Line)[];
  const rows = lines.map((line) => names.map((name) => `"${line[name].replaceAll('"', '""')}"`).join(','));
  return [HEADER, ...rows, ''].join('\n');
}
