import type { Schema } from '../../api/schemas.ts';
import { freeSpins as words } from '../../strings.ts';
import { Money } from '../values/money.tsx';
import { Stake } from '../values/stake.tsx';
import type { Column } from './data-table.tsx';

/** The column of an amount of each row. */
export function moneyColumn<Row extends { readonly currency: string }>(
  title: string,
  minorOf: (row: Row) => number | null | undefined,
): Column<Row> {
  return { title, numeric: true, cell: (row) => <Money minor={minorOf(row)} currency={row.currency} /> };
}

/** The column of the stake of a grant or batch. */
export const STAKE_COLUMN: Column<Schema<'GrantResponse'> | Schema<'BatchItem'>> = {
  title: words.stake,
  numeric: true,
  cell: ({ stakeMinor, currency }) => <Stake minor={stakeMinor} currency={currency} />,
};
