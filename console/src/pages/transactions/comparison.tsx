import type { ComponentChildren } from 'preact';
import type { Schema } from '../../api/schemas.ts';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import { Money } from '../../parts/values/money.tsx';
import { transactions as words } from '../../strings.ts';
import { type ComparedRow, comparisonOf, hasProvider } from './compare.ts';

/** What each party knows, side by side. A row in which they differ is marked in words. */
export function Comparison({ data }: { readonly data: Schema<'TransactionDetail'> }) {
  const shown = (row: ComparedRow, value: string | undefined, absent: string): ComponentChildren => {
    if (value === undefined)
      return <span class="text-body-secondary">{row.name === 'outcome' ? absent : '–'}</span>;
    return row.name === 'balance' ? <Money minor={Number(value)} currency={data.currency} /> : value;
  };
  const nothingTold = hasProvider(data) ? words.nothingTold : words.noProvider;
  const columns: readonly Column<ComparedRow>[] = [
    {
      title: words.what,
      cell: ({ name, differs }) => (
        <>
          {words.compared[name]} {differs && <strong class="alarm">{words.differs}</strong>}
        </>
      ),
    },
    { title: words.providerWasTold, cell: (row) => shown(row, row.provider, nothingTold) },
    { title: words.platformHolds, cell: (row) => shown(row, row.platform, '–') },
    { title: words.operatorAnswered, cell: (row) => shown(row, row.operator, words.notAsked) },
  ];
  return (
    <Rows caption={words.comparison} columns={columns} rows={comparisonOf(data)} keyOf={({ name }) => name} />
  );
}
