import type { ComponentChildren } from 'preact';
import { table as words } from '../../strings.ts';
import { withQuery } from '../links/addresses.ts';
import { usePage } from '../links/page.ts';
import { ProblemAlert } from '../reading/problem.tsx';
import type { Resource } from '../reading/resource.ts';

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
  /** Texts of several words keep a readable width. */
  readonly wide?: boolean;
}

/** Rows that are chosen, by their keys, for an action on several of them. */
interface Selection<Row> {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
  /** The accessible name of a row's checkbox. */
  readonly label: (row: Row) => string;
}

interface RowsProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of the rows if there are none. */
  readonly empty?: string;
  /** Puts a checkbox before each row. */
  readonly selection?: Selection<Row>;
}

/** A table of rows that are there already. The first column names the row. */
export function Rows<Row>({ caption, columns, rows, keyOf, empty = words.empty, selection }: RowsProps<Row>) {
  return (
    <div class="table-responsive" tabIndex={0} role="region" aria-label={caption}>
      <table class="table table-sm table-hover">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {selection && <SelectAll keys={rows.map(keyOf)} selection={selection} />}
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
              {selection && <SelectRow row={row} rowKey={keyOf(row)} selection={selection} />}
              {columns.map(({ title, cell, numeric, wide }, index) => {
                const style = numeric ? 'text-end' : wide ? 'wide' : undefined;
                return index === 0 ? (
                  <th key={title} scope="row" class={style}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={title} class={style}>
                    {cell(row)}
                  </td>
                );
              })}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={columns.length + (selection ? 1 : 0)} class="text-body-secondary">
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

interface SelectAllProps<Row> {
  readonly keys: readonly string[];
  readonly selection: Selection<Row>;
}

function SelectAll<Row>({ keys, selection: { chosen, onChange } }: SelectAllProps<Row>) {
  const count = keys.filter((key) => chosen.has(key)).length;
  const all = keys.length > 0 && count === keys.length;
  return (
    <td>
      <input
        type="checkbox"
        class="form-check-input"
        aria-label={words.selectAll}
        checked={all}
        indeterminate={count > 0 && !all}
        disabled={keys.length === 0}
        onChange={() => onChange(new Set(all ? [] : keys))}
      />
    </td>
  );
}

interface SelectRowProps<Row> {
  readonly row: Row;
  readonly rowKey: string;
  readonly selection: Selection<Row>;
}

function SelectRow<Row>({ row, rowKey, selection: { chosen, onChange, label } }: SelectRowProps<Row>) {
  const toggle = (isChosen: boolean) => {
    const changed = new Set(chosen);
    if (isChosen) changed.add(rowKey);
    else changed.delete(rowKey);
    onChange(changed);
  };
  return (
    <td>
      <input
        type="checkbox"
        class="form-check-input"
        aria-label={label(row)}
        checked={chosen.has(rowKey)}
        onChange={(event) => toggle(event.currentTarget.checked)}
      />
    </td>
  );
}

export interface DataTableProps<Row> extends Omit<RowsProps<Row>, 'rows'> {
  readonly list: Resource<Page<Row>>;
}

/** A list of the API, a page at a time. The page's `cursor` is in the address, so that Back works. */
export function DataTable<Row>({ list, ...table }: DataTableProps<Row>) {
  const { path, query } = usePage();
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
