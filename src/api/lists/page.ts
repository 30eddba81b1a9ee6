import { ApiPropertyOptional } from '@nestjs/swagger';
import { OpaqueField, QueryChoiceField, QueryIntegerField } from '../validation/fields.js';
import { isIdentifier } from '../validation/identifier.js';
import { invalidCursor } from './invalid-cursor.js';

/** Default and maximum number of items on a page. Contract, section 7. */
const LIMIT = 50;
const HIGHEST_LIMIT = 500;

const LimitField = (options: { default?: number; description?: string }) =>
  QueryIntegerField({ minimum: 1, maximum: HIGHEST_LIMIT, ...options });

const CursorField = () =>
  OpaqueField({ presence: 'optional', description: 'the `nextCursor` of the previous page' });

export class PageQuery {
  @LimitField({ default: LIMIT })
  limit?: number;

  @CursorField()
  cursor?: string;
}

/** The parameter `bom` of lists that can be exported as CSV. */
export const ByteOrderMarkField = () =>
  QueryChoiceField(['true', 'false'], {
    default: 'false',
    description: 'for CSV only: begin with a byte order mark, by which spreadsheets recognise UTF-8',
  });

export class ListQuery implements PageQuery {
  // Without a `default`, which Swagger's forms would send: a CSV would then be one page, which looks like all items.
  @LimitField({
    description: `items on a page; without it, a page of JSON has ${LIMIT} and a CSV has all items`,
  })
  limit?: number;

  @CursorField()
  cursor?: string;

  @ByteOrderMarkField()
  bom?: 'true' | 'false';
}

/** Selects at most `limit` items of a list by id: those whose ids follow `after` in byte order. */
export interface PageAfter {
  readonly after: string;
  readonly limit: number;
}

/** A page of a list. The last page has no `nextCursor`. */
export interface PageOf<T> {
  items: T[];
  nextCursor?: string;
}

export class NextCursor {
  @ApiPropertyOptional({ description: 'the `cursor` of the next page; absent on the last page' })
  nextCursor?: string;
}

/**
 * Reads one page of a list that is ordered by id.
 * @param read returns at most `limit` items whose id is greater than `after`
 * @param isId whether an id is valid; a cursor with an invalid id is refused
 * @throws CroupierError INVALID_REQUEST if the cursor is malformed
 */
export async function pageById<T>(
  query: PageQuery,
  read: (page: PageAfter) => Promise<T[]>,
  idOf: (item: T) => string,
  isId: (id: string) => boolean = isIdentifier,
): Promise<PageOf<T>> {
  const limit = query.limit ?? LIMIT;
  const after = query.cursor === undefined ? '' : Buffer.from(query.cursor, 'base64url').toString();
  if (query.cursor !== undefined && !isId(after)) {
    throw invalidCursor();
  }
  // One item more than requested tells whether there is a next page.
  const found = await read({ after, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, ...(last !== undefined && { nextCursor: cursorAt(idOf(last)) }) };
}

export function cursorAt(id: string): string {
  return Buffer.from(id).toString('base64url');
}
