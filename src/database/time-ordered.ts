import type { Statement } from './database.js';
import { type Place, placeColumn } from '../http/lists/time-page.js';

/** A list by time over one table, each filter of which has an index that ends with the time and the id. */
export interface TimeOrderedTable {
  /** The columns that are read, of the table `t`. */
  readonly columns: string;
  readonly from: string;
  readonly id: string;
  readonly idType: 'uuid' | 'bigint';
}

/** Which part of a list by time: from ≤ created_at < to, and what lies before a place. */
export interface TimeSpan {
  /** ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly before?: Place | undefined;
}

/**
 * That a column has a value, for a list that is ordered by the column first. To the planner `= ANY` is no equality with
 * a constant: it keeps the column in the order, which then only an index that begins with the column has. After `=` it
 * would drop it, and could follow the index by time through all that is newer.
 */
export const leading = (column: string, wanted: string): string => `t.${column} = ANY (ARRAY[${wanted}])`;

/** What no id is below. */
const LOWEST = { uuid: '00000000-0000-0000-0000-000000000000', bigint: '0' };

/**
 * The conditions of a span. The planner takes times for independent of all else, so that the many old rows of somebody
 * who has no new ones seem few, and are all sorted for a page: in a sub-select it does not see them. Of what lies between
 * two times it does not see it expects one in two hundred, few enough to sort as well: so `to` is a place, as `before` is.
 * Of two places the index is entered at the one that stands first, which is the older one.
 * @param value makes a parameter of it
 */
export function within(
  { from, to, before }: TimeSpan,
  { id, idType }: Pick<TimeOrderedTable, 'id' | 'idType'>,
  value: (each: unknown) => string,
): string[] {
  const hidden = (each: string | Date, type: string) => `(SELECT ${value(each)}::${type})`;
  const places = [
    ...(before ? [before] : []),
    ...(to === undefined ? [] : [{ at: new Date(to), id: LOWEST[idType] }]),
  ];
  return [
    ...places.map(
      (place) =>
        `(t.created_at, t.${id}) < (${hidden(place.at, 'timestamptz')}, ${hidden(place.id, idType)})`,
    ),
    ...(from === undefined ? [] : [`t.created_at >= ${hidden(new Date(from), 'timestamptz')}`]),
  ];
}

/**
 * One page of it, newest first. The statement has no name: which index is right depends on the values.
 * @param equal what columns must be; undefined restricts nothing. The first that is given leads the order
 * @param further conditions that need no value
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
