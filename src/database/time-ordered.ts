import { compareRow, hidden, hiddenTexts, type Row } from './planner.js';
import { type Place, placeColumn } from './place.js';
import { named, type Statement } from './statement.js';

/** A table that is listed by time. Each column that filters a list has an index that ends with the time and the id. */
export interface TimeOrderedTable {
  /** The select list. `t` is the table's alias. */
  readonly columns: string;
  readonly from: string;
  readonly id: string;
  readonly idType: 'uuid' | 'bigint';
}

type ByTime = Pick<TimeOrderedTable, 'id' | 'idType'>;

/** The part of a list to read: from ≤ created_at < to, older than `before`, and not older than `downTo`. */
export interface TimeSpan {
  /** ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly before?: Place | undefined;
  readonly downTo?: Place | undefined;
}

/**
 * The part of a list that a page examines, newest first. It begins with the first item after `before`, or with the newest
 * of all, and ends with the item at `downTo`, or with the oldest of all.
 */
export type Section = Pick<TimeSpan, 'before' | 'downTo'>;

/** No id is lower. */
const LOWEST = { uuid: '00000000-0000-0000-0000-000000000000', bigint: '0' };

/**
 * The conditions of a span, written so that the planner follows the index that begins with the leaders, instead of
 * sorting. `valuesWithin` has the values of the parameters.
 *
 * - Each end is compared as a place in that index: as a row of the leaders, the time and the id. If the leaders were
 *   compared apart, PostgreSQL would start to scan at their newest row, and not at the place.
 * - There is one condition for each end, because with each further one the planner expects a third of the rows.
 * - The values are hidden from the planner, because it assumes that times are independent of the other columns.
 * @param leaders columns of type text
 */
export function within(span: TimeSpan, table: ByTime, leaders: Row = {}): string[] {
  const first = hiddenTexts(leaders);
  const place = (at: string, id: string): Row => ({
    ...first,
    't.created_at': hidden(at, 'timestamptz'),
    [`t.${table.id}`]: hidden(id, table.idType),
  });
  const { upper, lower } = endsOf(span, table);
  const led = Object.keys(leaders).length > 0;
  const ends = [
    upper ? compareRow(place(':upperAt', ':upperId'), '<') : led && compareRow(first, '<='),
    lower ? compareRow(place(':lowerAt', ':lowerId'), '>=') : led && compareRow(first, '>='),
  ];
  return ends.filter((end) => end !== false);
}

export function valuesWithin(span: TimeSpan, table: ByTime): object {
  const { upper, lower } = endsOf(span, table);
  return { upperAt: upper?.at, upperId: upper?.id, lowerAt: lower?.at, lowerId: lower?.id };
}

/** The places between which the rows of a span are: lower ≤ row < upper. */
function endsOf({ from, to, before, downTo }: TimeSpan, { idType }: ByTime) {
  const startOf = (time: string | undefined) =>
    time === undefined ? undefined : { at: new Date(time), id: LOWEST[idType] };
  const isBefore = ({ at }: Place, time: string) => Date.parse(at) < Date.parse(time);
  return {
    upper: before && (to === undefined || isBefore(before, to)) ? before : startOf(to),
    lower: downTo && (from === undefined || !isBefore(downTo, from)) ? downTo : startOf(from),
  };
}

/**
 * One page of a list, newest first. Filters on other columns than the first are tested row by row, without a bound:
 * `time-window.ts` has one, for tables of millions of rows. The statement has no name, because the best index depends on
 * the values.
 * @param equal the values that columns must equal; undefined means no restriction. The first column that has a value
 *   leads the order
 */
export function timeOrderedPage(
  table: TimeOrderedTable,
  equal: Readonly<Record<string, string | undefined>>,
  span: TimeSpan,
  limit: number,
): { statement: Statement; values: object } {
  const columns = Object.keys(equal).filter((column) => equal[column] !== undefined);
  const leaders = columns.slice(0, 1);
  const conditions = [
    ...ledBy(leaders, table, span),
    // The condition of a partial index.
    ...leaders.map((column) => `t.${column} IS NOT NULL`),
    ...columns.slice(1).map((column) => `t.${column} = :${column}`),
  ];
  const text = `${newestFirst(table, leaders, conditions)} LIMIT :limit`;
  return { statement: named('', text), values: { ...equal, ...valuesWithin(span, table), limit } };
}

/** The conditions of a span in which each leader equals the parameter of its name. */
export const ledBy = (leaders: readonly string[], table: ByTime, span: TimeSpan): string[] =>
  within(span, table, Object.fromEntries(leaders.map((column) => [`t.${column}`, `:${column}`])));

/**
 * Selects the rows that meet the conditions, with their places, newest first.
 * @param leaders the columns with which the index begins; none for the index by time
 */
export function newestFirst(
  { columns, from, id }: TimeOrderedTable,
  leaders: readonly string[],
  conditions: readonly string[],
): string {
  const order = [...leaders, 'created_at', id].map((column) => `t.${column} DESC`);
  return `SELECT ${columns}, ${placeColumn('t.created_at', `t.${id}`)} FROM ${from} t
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
    ORDER BY ${order.join(', ')}`;
}
