import type { Statement } from './database.js';
import { type Place, placeColumn } from '../http/time-page.js';

/** A list by time over one table, each filter of which has an index that ends with the time and the id. */
export interface TimeOrderedTable {
  /** The columns that are read, of the table `t`. */
  readonly columns: string;
  readonly from: string;
  readonly id: string;
  readonly idType: 'uuid' | 'bigint';
}

/**
 * One page of it, newest first. The statement has no name: which index is right depends on the values.
 * @param equal what columns must be; undefined restricts nothing
 * @param further conditions that need no value
 */
export function timeOrderedPage(
  { columns, from, id, idType }: TimeOrderedTable,
  equal: Readonly<Record<string, string | undefined>>,
  { from: since, to }: { from?: string | undefined; to?: string | undefined },
  { before, limit }: { before: Place | undefined; limit: number },
  further: readonly string[] = [],
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [limit];
  const value = (each: unknown) => `$${values.push(each)}`;
  const conditions = [...further];
  for (const [column, wanted] of Object.entries(equal)) {
    if (wanted !== undefined) conditions.push(`t.${column} = ${value(wanted)}`);
  }
  if (since !== undefined) conditions.push(`t.created_at >= ${value(since)}::timestamptz`);
  if (to !== undefined) conditions.push(`t.created_at < ${value(to)}::timestamptz`);
  if (before) {
    conditions.push(
      `(t.created_at, t.${id}) < (${value(before.at)}::timestamptz, ${value(before.id)}::${idType})`,
    );
  }
  const text = `SELECT ${columns}, ${placeColumn('t.created_at', `t.${id}`)} FROM ${from} t
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
    ORDER BY t.created_at DESC, t.${id} DESC LIMIT $1`;
  return { statement: { name: '', text }, values };
}
