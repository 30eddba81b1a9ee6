import type { Database } from './database.js';
import { type Place, placeOf } from './place.js';
import { leading, rowByRow } from './planner.js';
import { named, type Statement } from './statement.js';
import { newestFirst, type TimeOrderedTable, type TimeSpan, valuesWithin, within } from './time-ordered.js';

/*
 * Bounds a page of a list by time whose filter no index serves as a whole. One index orders the list, and the rest of
 * the filter is tested row by row. The page examines a bounded number of rows of this index, its window, so it may be
 * short or empty although older rows match.
 */

/** Maximum number of rows that such a page examines. */
export const WINDOW_ROWS = 5_000;

/**
 * Planner settings that are switched off while a window's end is found. The planner underestimates how many rows an
 * operator and a provider share. It would sort all of these rows instead of reading 5,000 along the index. With the
 * other settings off, the estimated cost is so high that PostgreSQL would compile the plan, so `jit` is off, too.
 */
export const WINDOW_SETTINGS = [
  'enable_bitmapscan',
  'enable_seqscan',
  'enable_sort',
  'enable_incremental_sort',
  'jit',
];

/** Makes the rest of the database transaction read rows in the order of an index wherever possible. */
export const FOLLOW_INDEXES = named(
  'follow_indexes',
  `SELECT ${WINDOW_SETTINGS.map((name) => `set_config('${name}', 'off', true)`).join(', ')}`,
);

/** A statement that is planned for its values. */
export interface UnnamedStatement {
  readonly statement: Statement;
  readonly values: object;
}

/** Runs the statement that finds the end of a window; undefined if the page may read to the end of the list. */
export function readWindowEnd(
  database: Database,
  { statement, values }: UnnamedStatement,
): Promise<Place | undefined> {
  return database.transaction(async ({ query }) => {
    await query(FOLLOW_INDEXES, {});
    const [last] = await query<{ place: string }>(statement, values);
    return last && placeOf(last.place);
  });
}

export interface WindowedTable extends TimeOrderedTable {
  /** Two columns with which an index begins. It leads the order if both are filtered. */
  readonly pair?: readonly [string, string];
  /** The condition of a partial index by time and id. */
  readonly partial?: string;
}

export interface WindowedFilter {
  /**
   * The values that columns must equal; undefined means no restriction. Each column has an index that ends with the time
   * and the id. Unless the table's pair leads the order, the first column that has a value does.
   */
  readonly equal: Readonly<Record<string, string | undefined>>;
  /** A further condition, without parameters. */
  readonly further?: string | undefined;
}

/**
 * One page of a list, newest first, that examines only the rows within `span`. The statement has no name, because the
 * best index depends on the values.
 */
export function windowedPage(
  table: WindowedTable,
  filter: WindowedFilter,
  span: TimeSpan,
  limit: number,
): UnnamedStatement {
  const { first, examined, tested } = conditionsOf(table, filter);
  const rows = tested.length === 0 ? [] : [rowByRow(tested.join(' AND '))];
  const conditions = [...examined, ...rows, ...within(span, table)];
  const text = `${newestFirst(table, first, conditions)} LIMIT :limit`;
  return { statement: named('', text), values: { ...filter.equal, ...valuesWithin(span), limit } };
}

/**
 * Finds the last row of a page's window. If the list has fewer rows, the statement returns none.
 * @returns undefined if the page needs no window, because an index serves the whole filter
 */
export function windowEnd(
  table: WindowedTable,
  filter: WindowedFilter,
  span: TimeSpan,
): UnnamedStatement | undefined {
  const { first, examined, tested } = conditionsOf(table, filter);
  if (tested.length === 0) return undefined;
  const conditions = [...examined, ...within(span, table)];
  const text = `${newestFirst({ ...table, columns: `t.${table.id}` }, first, conditions)} OFFSET :rows - 1 LIMIT 1`;
  return {
    statement: named('', text),
    values: { ...filter.equal, ...valuesWithin(span), rows: WINDOW_ROWS },
  };
}

/**
 * Finds the end of a page's window, if it needs one, and composes the statement that reads the page.
 * @returns `downTo` is the end of the window
 */
export async function findPage(
  database: Database,
  table: WindowedTable,
  filter: WindowedFilter,
  span: Omit<TimeSpan, 'downTo'>,
  limit: number,
): Promise<UnnamedStatement & Pick<TimeSpan, 'downTo'>> {
  const end = windowEnd(table, filter, span);
  const downTo = end && (await readWindowEnd(database, end));
  return { ...windowedPage(table, filter, { ...span, downTo }, limit), downTo };
}

/**
 * The conditions of a filter.
 * @returns first: the column that leads the order, undefined if time does; examined: what an index serves; tested: what
 *   is tested row by row
 */
function conditionsOf({ pair, partial }: WindowedTable, { equal, further }: WindowedFilter) {
  const columns = Object.keys(equal).filter((column) => equal[column] !== undefined);
  const leaders: readonly string[] = pair?.every((column) => columns.includes(column))
    ? pair
    : columns.slice(0, 1);
  const [first, ...second] = leaders;
  const equals = (column: string) => `t.${column} = :${column}`;
  const ofIndex = first === undefined ? [] : [leading(`t.${first}`, `:${first}`), ...second.map(equals)];
  const others = columns.filter((column) => !leaders.includes(column)).map(equals);
  if (further === undefined) return { first, examined: ofIndex, tested: others };
  if (first === undefined && further === partial) return { first, examined: [further], tested: [] };
  return { first, examined: ofIndex, tested: [...others, further] };
}
