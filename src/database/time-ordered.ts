import { hidden, leading } from './planner.js';
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

/** The part of a list to read: from ≤ created_at < to, older than `before`, and not older than `downTo`. */
export interface TimeSpan {
  /** ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly before?: Place | undefined;
  readonly downTo?: Place | undefined;
}

const LOWEST = { uuid: '00000000-0000-0000-0000-000000000000', bigint: '0' };

/**
 * The conditions of a span, written so that the planner follows the index instead of sorting.
 *
 * - The times are hidden from the planner, because it assumes that they are independent of the other columns.
 * - If hidden times limit a range at both ends, the planner expects one row in two hundred, which is again few enough
 *   to sort. So `to` is compared as a place, like `before`: a pair of time and id.
 * - If a row must be older than two places, PostgreSQL starts to scan the index at the place that comes first in the
 *   statement. Therefore `before`, the older of the two, comes first.
 */
export function within(
  { from, to, before, downTo }: TimeSpan,
  { id, idType }: Pick<TimeOrderedTable, 'id' | 'idType'>,
): string[] {
  const place = (at: string, placeId: string) => `(${hidden(at, 'timestamptz')}, ${hidden(placeId, idType)})`;
  const row = `(t.created_at, t.${id})`;
  return [
    ...(before ? [`${row} < ${place(':beforeAt', ':beforeId')}`] : []),
    ...(to === undefined ? [] : [`${row} < ${place(':to', `'${LOWEST[idType]}'`)}`]),
    ...(downTo ? [`${row} >= ${place(':downToAt', ':downToId')}`] : []),
    ...(from === undefined ? [] : [`t.created_at >= ${hidden(':from', 'timestamptz')}`]),
  ];
}

export function valuesWithin({ from, to, before, downTo }: TimeSpan): object {
  return {
    from: from && new Date(from),
    to: to && new Date(to),
    beforeAt: before?.at,
    beforeId: before?.id,
    downToAt: downTo?.at,
    downToId: downTo?.id,
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
  const [first, ...others] = Object.keys(equal).filter((column) => equal[column] !== undefined);
  const conditions = [
    ...(first === undefined ? [] : [leading(`t.${first}`, `:${first}`)]),
    ...others.map((column) => `t.${column} = :${column}`),
    ...within(span, table),
  ];
  const text = `${newestFirst(table, first, conditions)} LIMIT :limit`;
  return { statement: named('', text), values: { ...equal, ...valuesWithin(span), limit } };
}

/**
 * Selects the rows that meet the conditions, with their places, newest first.
 * @param first the column with which the index begins; undefined for the index by time
 */
export function newestFirst(
  { columns, from, id }: TimeOrderedTable,
  first: string | undefined,
  conditions: readonly string[],
): string {
  return `SELECT ${columns}, ${placeColumn('t.created_at', `t.${id}`)} FROM ${from} t
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
    ORDER BY ${first === undefined ? '' : `t.${first} DESC, `}t.created_at DESC, t.${id} DESC`;
}
