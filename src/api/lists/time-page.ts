import type { Type } from '@nestjs/common';
import type { Place } from '../../database/place.js';
import type { Found } from '../../database/time-window.js';
import { instantMs } from '../../runtime/instant.js';
import { InstantField } from '../validation/instant.js';
import { invalidCursor } from './invalid-cursor.js';
import { cursorAt, ListQuery, pageById, PageQuery, type PageOf } from './page.js';

/** Adds the range of time. A query that can be exported as CSV remains a subclass of ListQuery, which `list.ts` asks. */
function withTimeRange<Page extends Type<PageQuery>>(page: Page) {
  class TimeRange extends page {
    @InstantField('from ≤ createdAt')
    from?: string;

    @InstantField('createdAt < to')
    to?: string;
  }
  return TimeRange;
}

/** The query parameters of a list by time, newest first: from ≤ createdAt < to. Contract, section 7. */
export class TimePageQuery extends withTimeRange(ListQuery) {}

/** The same for a list without CSV: an operator's own grants and batches. */
export class OperatorTimePageQuery extends withTimeRange(PageQuery) {}

const PLACE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/([0-9a-f-]{1,36})$/;

/**
 * Reads one page of a list by time.
 * @param isId whether an id is valid; a cursor with an invalid id is refused
 * @param read returns at most `limit` rows that are older than `before`, newest first
 * @throws CroupierError INVALID_REQUEST if the cursor is malformed
 */
export async function pageByTime<Row extends { place: string }, T>(
  query: PageQuery,
  isId: (id: string) => boolean,
  read: (page: { before: Place | undefined; limit: number }) => Promise<Row[]>,
  itemOf: (row: Row) => T,
): Promise<PageOf<T>> {
  const page = await pageById(
    query,
    ({ after, limit }) => read({ before: after === '' ? undefined : placeIn(after, isId), limit }),
    (row) => row.place,
  );
  return { ...page, items: page.items.map(itemOf) };
}

/**
 * Reads one page of a list by time, but examines only a bounded part of the list. The page may therefore be short or
 * even empty and still have a next page.
 * @param read returns at most `limit` rows that are older than `before`, newest first
 * @throws CroupierError INVALID_REQUEST if the cursor is malformed
 */
export async function pageOfWindow<Row extends { place: string }, T>(
  query: PageQuery,
  isId: (id: string) => boolean,
  read: (page: { before: Place | undefined; limit: number }) => Promise<Found<Row>>,
  itemOf: (row: Row) => T,
): Promise<PageOf<T>> {
  let downTo: Place | undefined;
  const readRows = async (page: { before: Place | undefined; limit: number }) => {
    const found = await read(page);
    ({ downTo } = found);
    return found.rows;
  };
  const page = await pageByTime(query, isId, readRows, itemOf);
  if (page.nextCursor !== undefined || downTo === undefined) return page;
  return { ...page, nextCursor: cursorAt(`${downTo.at}/${downTo.id}`) };
}

function placeIn(text: string, isId: (id: string) => boolean): Place {
  const [, at, id] = PLACE.exec(text) ?? [];
  if (at === undefined || id === undefined || instantMs(at) === null || !isId(id)) {
    throw invalidCursor();
  }
  return { at, id };
}
