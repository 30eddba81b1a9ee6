import type { ComponentChildren } from 'preact';
import { useTitle } from '../links/page.ts';
import { RefreshButton } from '../reading/refresh-button.tsx';
import { CsvButton } from './csv-button.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';
import { type Filter, Filters } from './filters.tsx';

interface FilteredListProps<Row> extends Omit<DataTableProps<Row>, 'caption'> {
  readonly words: Readonly<Record<'title' | 'caption', string>>;
  readonly fields: readonly Filter[];
  /** The list's route, such as `/v1/admin/transactions`. */
  readonly path: string;
  /** Stands between the filter and the list. */
  readonly children?: ComponentChildren;
}

/** The page of a list: its filter, a download and the table. */
export function FilteredList<Row>({ words, fields, path, children, ...table }: FilteredListProps<Row>) {
  const { title, caption } = words;
  useTitle(title);
  return (
    <>
      <h1 class="h4">{title}</h1>
      <Filters fields={fields} reload={table.list.reload} />
      <div class="toolbar mb-2">
        <RefreshButton reload={table.list.reload} />
        <CsvButton path={path} />
      </div>
      {children}
      <DataTable caption={caption} {...table} />
    </>
  );
}
