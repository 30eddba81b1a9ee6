import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Header,
  StreamableFile,
  type Type,
} from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiQuery, getSchemaPath } from '@nestjs/swagger';
import accepts from 'accepts';
import type { Request } from 'express';
import { Readable } from 'node:stream';
import { csvRecord } from './csv.js';
import type { PageOf, PageQuery } from './page.js';

/** Rows that an export reads at once, and all that it holds in memory. */
const BATCH = 500;

/** Every field of an item, in the order of its columns; the compiler sees to it that none is forgotten. */
export type Columns<T> = { readonly [K in keyof Required<T>]: true };

/** The list as an export of it: all pages, one after the other, from the first that was read. */
export interface Listing<Q extends PageQuery, T extends object> {
  readonly query: Q;
  /** The name of the file, without its ending. */
  readonly name: string;
  readonly columns: Columns<T>;
  /** @throws CroupierError INVALID_REQUEST */
  readonly read: (query: Q) => Promise<PageOf<T>>;
}

/** How the caller wants a list: as JSON, or as CSV where it prefers that. */
export type ListFormat = 'json' | 'csv';

export const AcceptedFormat = createParamDecorator((_: unknown, context: ExecutionContext): ListFormat => {
  const request = context.switchToHttp().getRequest<Request>();
  return accepts(request).type(['application/json', 'text/csv']) === 'text/csv' ? 'csv' : 'json';
});

/**
 * Answers a list: one page of it as JSON, or as CSV the whole that matches, streamed batch by batch in bounded memory;
 * with a `limit`, that page alone. Contract, section 7, "Lists".
 */
export async function answerList<Q extends PageQuery, T extends object>(
  format: ListFormat,
  listing: Listing<Q, T>,
): Promise<PageOf<T> | StreamableFile> {
  const { query, read, name } = listing;
  if (format === 'json') return read(query);
  const whole = query.limit === undefined;
  // The first page comes before the status: what is wrong with the query is refused as ever.
  const first = await read(whole ? { ...query, limit: BATCH } : query);
  return new StreamableFile(Readable.from(records(first, whole, listing)), {
    type: 'text/csv; charset=utf-8; header=present',
    disposition: `attachment; filename="${name}.csv"`,
  });
}

async function* records<Q extends PageQuery, T extends object>(
  first: PageOf<T>,
  whole: boolean,
  { query, columns, read }: Listing<Q, T>,
): AsyncGenerator<string> {
  const names = Object.keys(columns) as (keyof T)[];
  yield csvRecord(names);
  for (let page: PageOf<T> | undefined = first; page;) {
    yield page.items.map((item) => csvRecord(names.map((name) => item[name]))).join('');
    const { nextCursor: cursor }: PageOf<T> = page;
    page = whole && cursor !== undefined ? await read({ ...query, limit: BATCH, cursor }) : undefined;
  }
}

/** Documents a list: its query, its JSON and its CSV. */
export function ApiList<T extends object>(
  answer: Type<{ items: T[] }>,
  query: Type<object>,
  columns: Columns<T>,
): MethodDecorator {
  return applyDecorators(
    Header('Vary', 'Accept'),
    ApiQuery({ type: query }),
    ApiExtraModels(answer),
    ApiOkResponse({
      description:
        'A page; with `Accept: text/csv` all that matches as CSV (RFC 4180, UTF-8, streamed), or with a `limit` that ' +
        'page. A text that a spreadsheet would take for a formula begins with an apostrophe there.',
      content: {
        'application/json': { schema: { $ref: getSchemaPath(answer) } },
        'text/csv': { schema: { type: 'string' }, example: csvRecord(Object.keys(columns)) },
      },
    }),
  );
}
