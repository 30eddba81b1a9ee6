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
import { majorUnits } from '../../money/money.js';
import { CsvNumber, csvRecord } from './csv.js';
import type { ListQuery, PageOf } from './page.js';

/** Rows that an export reads at once, and all that it holds in memory. */
const BATCH = 500;

/** Every field of an item, in the order of its columns; the compiler sees to it that none is forgotten. */
export type Columns<T> = { readonly [K in keyof Required<T>]: true };

/** The list as an export of it: all pages, one after the other, from the first that was read. */
export interface Listing<Q extends ListQuery, T extends object> {
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
export async function answerList<Q extends ListQuery, T extends object>(
  format: ListFormat,
  listing: Listing<Q, T>,
): Promise<PageOf<T> | StreamableFile> {
  const { read, name } = listing;
  const { bom, ...rest } = listing.query;
  const query = rest as Q;
  if (format === 'json') return read(query);
  const whole = query.limit === undefined;
  // The first page comes before the status: what is wrong with the query is refused as ever.
  const first = await read(whole ? { ...query, limit: BATCH } : query);
  return new StreamableFile(Readable.from(records(first, whole, { ...listing, query }, bom === 'true')), {
    type: 'text/csv; charset=utf-8; header=present',
    disposition: `attachment; filename="${name}.csv"`,
  });
}

async function* records<Q extends ListQuery, T extends object>(
  first: PageOf<T>,
  whole: boolean,
  { query, columns, read }: Listing<Q, T>,
  byteOrderMark: boolean,
): AsyncGenerator<string> {
  yield `${byteOrderMark ? '\uFEFF' : ''}${csvHeader(columns)}`;
  const names = Object.keys(columns);
  for (let page: PageOf<T> | undefined = first; page;) {
    yield page.items.map((item) => csvRecord(cellsOf(item, names))).join('');
    const { nextCursor: cursor }: PageOf<T> = page;
    page = whole && cursor !== undefined ? await read({ ...query, limit: BATCH, cursor }) : undefined;
  }
}

const MINOR = /Minor$/;

/** An amount has a column in minor units, and one beside it as money: `amountMinor`, `amount`. Contract, section 7. */
function csvHeader(columns: object): string {
  const names = Object.keys(columns);
  return csvRecord(names.flatMap((name) => (MINOR.test(name) ? [name, name.replace(MINOR, '')] : [name])));
}

/** The money of an unknown currency is an empty field. */
function cellsOf(item: object, names: readonly string[]): unknown[] {
  const fields = item as Readonly<Record<string, unknown>>;
  return names.flatMap((name) => {
    const value = fields[name];
    if (!MINOR.test(name)) return [value];
    const amount = typeof value === 'number' ? majorUnits(value, String(fields['currency'])) : undefined;
    return [value, amount === undefined ? undefined : new CsvNumber(amount)];
  });
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
        'page. A text that a spreadsheet would take for a formula begins with an apostrophe there; beside each amount in ' +
        'minor units stands the amount in major units.',
      content: {
        'application/json': { schema: { $ref: getSchemaPath(answer) } },
        'text/csv': { schema: { type: 'string' }, example: csvHeader(columns) },
      },
    }),
  );
}
