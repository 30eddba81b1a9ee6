import { CroupierError } from '../../errors/croupier-error.js';
import { OpaqueField, QueryChoiceField, QueryIntegerField } from '../validation/fields.js';
import { isIdentifier } from '../validation/identifier.js';

/** Contract, section 7: `limit` 50, at most 500. */
const LIMIT = 50;
const HIGHEST_LIMIT = 500;

/** Which part of a list is asked for. */
export class PageQuery {
  @QueryIntegerField({ minimum: 1, maximum: HIGHEST_LIMIT, default: LIMIT })
  limit?: number;

  @OpaqueField({ presence: 'optional', description: 'the `nextCursor` of the page before' })
  cursor?: string;
}

/** A parameter of lists that are exported as CSV. */
export const ByteOrderMarkField = () =>
  QueryChoiceField(['true', 'false'], {
    default: 'false',
    description: 'of CSV: begins with a byte order mark, by which spreadsheets know UTF-8',
  });

/** Which part of a list is asked for that is exported as CSV too. */
export class ListQuery extends PageQuery {
  @ByteOrderMarkField()
  bom?: 'true' | 'false';
}

/** A part of a list by id: what comes after this id, in the order of its bytes. */
export interface PageAfter {
  readonly after: string;
  readonly limit: number;
}

/** A part of a list; without `nextCursor` it is the last. */
export interface PageOf<T> {
  items: T[];
  nextCursor?: string;
}

/**
 * Reads one page of a list that is ordered by id.
 * @param read gives at most `limit` items whose id is greater than `after`
 * @throws CroupierError INVALID_REQUEST where the cursor is none that a list has given
 */
export async function pageById<T>(
  query: PageQuery,
  read: (page: PageAfter) => Promise<T[]>,
  idOf: (item: T) => string,
): Promise<PageOf<T>> {
  const limit = query.limit ?? LIMIT;
  const after = query.cursor === undefined ? '' : Buffer.from(query.cursor, 'base64url').toString();
  if (query.cursor !== undefined && !isIdentifier(after)) {
    throw new CroupierError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page');
  }
  // One more than asked tells whether there is a next page.
  const found = await read({ after, limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, ...(last !== undefined && { nextCursor: Buffer.from(idOf(last)).toString('base64url') }) };
}
