import type { Statement } from './database.js';
import { type Place, placeColumn } from './place.js';

/** A table that is listed by time. Each column that filters a list has an index that ends with the time and the id. */
export interface TimeOrderedTable {
  /** The select list. `t` is the table's alias. */
  readonly columns: string;
  readonly from: string;
  readonly id: string;
  readonly idType: 'uuid' | 'bigint';
}

/** The part of a list to read: from ≤ created_at < to, older than `before`, and not older than `downTo`. */
export interface TimeSpan {
  /** ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly before?: Place | undefined;
  readonly downTo?: Place | undefined;
}

/**
 * A condition that a column equals a value, for a list whose order begins with that column. With a plain `=`, the
 * planner would remove the column from the order, and could then scan the index by time, past all newer rows with other
 * values. `= ANY` does not count as equality with a constant, so only an index that begins with the column has the
 * required order.
 */
export const leading = (column: string, wanted: string): string => `t.${column} = ANY (ARRAY[${wanted}])`;

/** The lowest id of each type. */
const LOWEST = { uuid: '00000000-0000-0000-0000-000000000000', bigint: '0' };

/**
 * The conditions of a span, written so that the planner follows the index instead of sorting.
 *
 * - The planner assumes that times are independent of the other columns. For a tenant without recent rows, it would
 *   expect that few rows are older than an old time. It would then read and sort all rows of the tenant for each page.
 *   It cannot make this estimate if the times are hidden in a sub-select.
 * - If hidden times limit a range at both ends, the planner expects one row in two hundred, which is again few enough
 *   to sort. So `to` is compared as a place, like `before`: a pair of time and id.
 * - If a row must be older than two places, PostgreSQL starts to scan the index at the place that comes first in the
 *   statement. Therefore `before`, the older of the two, comes first.
 * @param value adds a parameter and returns its placeholder
 */
export function within(
  { from, to, before, downTo }: TimeSpan,
  { id, idType }: Pick<TimeOrderedTable, 'id' | 'idType'>,
  value: (each: unknown) => string,
): string[] {
  const hidden = (each: string | Date, type: string) => `(SELECT ${value(each)}::${type})`;
  const place = ({ at, id: placeId }: { at: string | Date; id: string }) =>
    `(${hidden(at, 'timestamptz')}, ${hidden(placeId, idType)})`;
  const places = [
    ...(before ? [before] : []),
    ...(to === undefined ? [] : [{ at: new Date(to), id: LOWEST[idType] }]),
  ];
  return [
    ...places.map((each) => `(t.created_at, t.${id}) < ${place(each)}`),
    ...(downTo ? [`(t.created_at, t.${id}) >= ${place(downTo)}`] : []),
    ...(from === undefined ? [] : [`t.created_at >= ${hidden(new Date(from), 'timestamptz')}`]),
  ];
}

/**
 * One page of a list, newest first. The statement has no name, because the best index depends on the values.
 * @param equal the values that columns must equal; undefined means no restriction. The first column that has a value
 *   leads the order
 * @param further conditions without parameters
 */
export function timeOrderedPage(
  { columns, from, id, idType }: TimeOrderedTable,
  equal: Readonly<Record<string, string | undefined>>,
  span: TimeSpan,
  limit: number,
  further: readonly string[] = [],
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [limit];
  const value = (each: unknown) => `$${values.push(each)}`;
  const [first, ...others] = Object.entries(equal).filter(([, wanted]) => wanted !== undefined);
  const conditions = [
    ...(first ? [leading(first[0], value(first[1]))] : []),
    ...others.map(([column, wanted]) => `t.${column} = ${value(wanted)}`),
    ...further,
    ...within(span, { id, idType }, value),
  ];
  const text = `SELECT ${columns}, ${placeColumn('t.created_at', `t.${id}`)} FROM ${from} t
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
    ORDER BY ${first ? `t.${first[0]} DESC, ` : ''}t.created_at DESC, t.${id} DESC LIMIT $1`;
  return { statement: { name: '', text }, values };
}
