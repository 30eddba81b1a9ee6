import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { table as words } from '../strings.ts';
import { withQuery } from './addresses.ts';
import { ProblemAlert } from './problem.tsx';
import type { Resource } from './resource.ts';

/** A page of a list, as the API answers it. */
export interface Page<Row> {
  readonly items: readonly Row[];
  readonly nextCursor?: string | null;
}

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers and amounts are aligned to the right. */
  readonly numeric?: boolean;
}

interface RowsProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of the rows if there are none. */
  readonly empty?: string;
}

/** A table of rows that are there already. The first column names the row. */
export function Rows<Row>({ caption, columns, rows, keyOf, empty = words.empty }: RowsProps<Row>) {
  return (
    <div class="table-responsive" tabIndex={0} role="region" aria-label={caption}>
      <table class="table table-sm table-hover">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, numeric }) => (
              <th key={title} scope="col" class={numeric ? 'text-end' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, numeric }, index) => {
                const alignment = numeric ? 'text-end' : undefined;
                return index === 0 ? (
                  <th key={title} scope="row" class={alignment}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={title} class={alignment}>
                    {cell(row)}
                  </td>
                );
              })}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={columns.length} class="text-body-secondary">
                {empty}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Items on a page of the API, unless the address has a `limit`. */
const PAGE_ITEMS = 50;

interface DataTableProps<Row> extends Omit<RowsProps<Row>, 'rows'> {
  readonly list: Resource<Page<Row>>;
}

/** A list of the API, a page at a time. The page's `cursor` is in the address, so that Back works. */
export function DataTable<Row>({ list, ...table }: DataTableProps<Row>) {
  const { path, query } = useLocation();
  const { data, problem, loading, retries, reload } = list;
  const { cursor, ...filter } = query;
  const next = data.value?.nextCursor;
  // Filters without an index examine a bounded number of records for a page.
  const partial = Boolean(next) && (data.value?.items.length ?? 0) < Number(query['limit'] ?? PAGE_ITEMS);
  return (
    <div aria-busy={loading.value}>
      {problem.value && <ProblemAlert problem={problem.value} retry={reload} retries={retries.value} />}
      {data.value ? (
        <Rows {...table} rows={data.value.items} {...(partial && { empty: words.emptySoFar })} />
      ) : (
        !problem.value && <p role="status">{words.loading}</p>
      )}
      {partial && <p class="text-body-secondary">{words.partial}</p>}
      <nav class="d-flex gap-3" aria-label={table.caption}>
        {cursor !== undefined && <a href={withQuery(path, filter)}>{words.first}</a>}
        {next && <a href={withQuery(path, { ...filter, cursor: next })}>{words.next}</a>}
      </nav>
    </div>
  );
}
