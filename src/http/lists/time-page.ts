import { ApiPropertyOptional } from '@nestjs/swagger';
import { CroupierError } from '../../errors/croupier-error.js';
import { instantMs } from '../../runtime/instant.js';
import { InstantField } from '../validation/instant.js';
import { ListQuery, pageById, type PageOf, type PageQuery } from './page.js';

/** Which part of a list by time is asked for: from ≤ createdAt < to, newest first. Contract, section 7. */
export class TimePageQuery extends ListQuery {
  @InstantField('from ≤ createdAt')
  from?: string;

  @InstantField('createdAt < to')
  to?: string;
}

/** A place in a list by time: the time to the microsecond, and what tells apart those of one moment. */
export interface Place {
  readonly at: string;
  readonly id: string;
}

/** The place of a row as an expression of SQL, with the whole precision of its time: for `placeIn` to read. */
export const placeColumn = (at: string, id: string) =>
  `to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || ${id} AS place`;

const PLACE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/([0-9a-f-]{1,36})$/;

/**
 * Reads one page of a list by time.
 * @param read gives at most `limit` rows that lie before the place, newest first
 * @param ids what an id may look like; a cursor with another one is refused
 * @throws CroupierError INVALID_REQUEST where the cursor is none that a list has given
 */
export async function pageByTime<Row extends { place: string }, T>(
  query: PageQuery,
  ids: (id: string) => boolean,
  read: (page: { before: Place | undefined; limit: number }) => Promise<Row[]>,
  itemOf: (row: Row) => T,
): Promise<PageOf<T>> {
  const page = await pageById(
    query,
    ({ after, limit }) => read({ before: after === '' ? undefined : placeIn(after, ids), limit }),
    (row) => row.place,
  );
  return { ...page, items: page.items.map(itemOf) };
}

function placeIn(text: string, ids: (id: string) => boolean): Place {
  const [, at, id] = PLACE.exec(text) ?? [];
  if (at === undefined || id === undefined || instantMs(at) === null || !ids(id)) {
    throw new CroupierError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page');
  }
  return { at, id };
}

/** What a row of the database has, without what it lacks: an absent field is left out of an answer. */
export function present<T extends object>(row: {
  readonly [K in keyof T]: T[K] | (undefined extends T[K] ? null : never);
}): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}

/** The `nextCursor` of a list's answer, as it is documented. */
export class NextCursor {
  @ApiPropertyOptional({ description: 'the `cursor` of the next page; absent on the last' })
  nextCursor?: string;
}
