import type { Schema } from '../../api/schemas.ts';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { isKnownStake } from '../../parts/values/stake.tsx';
import { approvals as words, freeSpins, limitName } from '../../strings.ts';

type Approval = Schema<'ApprovalResponse'>;

interface Change {
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

const COLUMNS: readonly Column<Change>[] = [
  { title: words.what, cell: ({ what }) => what },
  { title: words.before, numeric: true, cell: ({ before }) => before },
  {
    title: words.after,
    numeric: true,
    cell: ({ before, after }) => (before === after ? after : <strong>{after}</strong>),
  },
];

/** What an approval changes: limits, the outcome of a transaction, or what is used of the limits. */
export function Changes({ approval }: { readonly approval: Approval }) {
  const rows = changesOf(approval);
  return rows.length === 0 ? null : (
    <div class="narrow">
      <Rows caption={words.changes} columns={COLUMNS} rows={rows} keyOf={({ what }) => what} />
    </div>
  );
}

export function changesOf(approval: Approval): Change[] {
  const { kind, before = {}, after = {}, limit, currency, terms, stakeMinor, amountMinor } = approval;
  if (kind === 'settlement') {
    const { status, balance } = terms;
    const stored = typeof balance === 'number' ? moneyText(balance, currency) : words.lastBalance;
    return [
      { what: words.transaction, before: words.undecided, after: String(status) },
      { what: words.balance, before: words.undecided, after: stored },
    ];
  }
  if (kind === 'limit') {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const textOf = (limits: Readonly<Record<string, unknown>>, name: string) =>
      typeof limits[name] === 'number' ? moneyText(limits[name], currency) : words.noLimit;
    return names.map((name) => ({
      what: limitName(name),
      before: textOf(before, name),
      after: textOf(after, name),
    }));
  }
  const addedMinor = stakeMinor ?? amountMinor;
  if (!limit || addedMinor === undefined) return [];
  // A sum beyond 2^53 − 1 would be inexact as a number.
  const used = BigInt(limit.usedMinor);
  const sum = used + BigInt(Math.abs(addedMinor));
  const isKnown = stakeMinor === undefined || isKnownStake(stakeMinor);
  return [
    {
      what: words.used,
      before: moneyText(used, currency),
      after: isKnown ? moneyText(sum, currency) : freeSpins.unknownAmount,
    },
  ];
}
