import type { Query } from './database.js';
import { type Place, placeOf } from './place.js';
import { hidden, leading, rowByRow } from './planner.js';
import { named, type Statement } from './statement.js';
import { ledBy, newestFirst, type TimeOrderedTable, type TimeSpan, valuesWithin } from './time-ordered.js';

/*
 * Bounds a page of a list by time whose filter no index serves as a whole. One index orders the list, and the rest of
 * the filter is tested row by row. The page examines a bounded number of rows of this index, its window, so it may be
 * short or empty although older rows match.
 */

/** Maximum number of rows that such a page examines. */
export const WINDOW_ROWS = 5_000;

/** A statement that is planned for its values. */
export interface UnnamedStatement {
  readonly statement: Statement;
  readonly values: object;
}

/** Runs the statement that finds the end of a window; undefined if the page may read to the end of the list. */
export async function readWindowEnd(
  query: Query,
  { statement, values }: UnnamedStatement,
): Promise<Place | undefined> {
  const [last] = await query<{ place: string }>(statement, values);
  return last && placeOf(last.place);
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
  const { leaders, examined, tested } = conditionsOf(table, filter, span);
  const rows = tested.length === 0 ? [] : [rowByRow(tested.join(' AND '))];
  const text = `${newestFirst(table, leaders, [...examined, ...rows])} LIMIT :limit`;
  return { statement: named('', text), values: { ...filter.equal, ...valuesWithin(span, table), limit } };
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
  const { leaders, examined, tested } = conditionsOf(table, filter, span);
  if (tested.length === 0) return undefined;
  const text = `${newestFirst({ ...table, columns: `t.${table.id}` }, leaders, examined)} OFFSET ${hidden(':rows - 1', 'bigint')} LIMIT 1`;
  return {
    statement: named('', text),
    values: { ...filter.equal, ...valuesWithin(span, table), rows: WINDOW_ROWS },
  };
}

export interface Found<Row> {
  readonly rows: Row[];
  /**
   * The lower bound of the search: no row older than this place is examined. Undefined if only `limit` and the end of
   * the list bound the search.
   */
  readonly downTo?: Place | undefined;
}

/** Reads a page, and the end of its window first if it needs one. */
export async function findPage<Row extends object>(
  query: Query,
  table: WindowedTable,
  filter: WindowedFilter,
  span: Omit<TimeSpan, 'downTo'>,
  limit: number,
): Promise<Found<Row & { place: string }>> {
  const end = windowEnd(table, filter, span);
  const downTo = end && (await readWindowEnd(query, end));
  const { statement, values } = windowedPage(table, filter, { ...span, downTo }, limit);
  return { rows: await query(statement, values), downTo };
}

/**
 * The conditions of a filter and a span.
 * @returns leaders: the columns that lead the order, none if time does; examined: what an index serves; tested: what is
 *   tested row by row
 */
function conditionsOf(table: WindowedTable, { equal, further }: WindowedFilter, span: TimeSpan) {
  const { pair, partial } = table;
  const columns = Object.keys(equal).filter((column) => equal[column] !== undefined);
  const leaders: readonly string[] = pair?.every((column) => columns.includes(column))
    ? pair
    : columns.slice(0, 1);
  const others = columns
    .filter((column) => !leaders.includes(column))
    .map((column) => `t.${column} = :${column}`);
  const tested = further === undefined ? others : [...others, further];
  const examined = ledBy(leaders, table, span);
  if (leaders.length === 0 && further !== undefined && further === partial) {
    return { leaders, examined: [...examined, further], tested: [] };
  }
  const [first, second] = leaders;
  // Of a range of one column, the planner expects fewer rows than of a range of several. Without this condition, which
  // both indexes serve, it could prefer the index of the first column alone. It comes last, because PostgreSQL starts at
  // the bound that comes first.
  if (second !== undefined) examined.push(leading({ [`t.${first}`]: `:${first}` }));
  return { leaders, examined, tested };
}
