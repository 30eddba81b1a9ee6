import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Header,
  Logger,
  StreamableFile,
  type Type,
} from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiProperty, ApiQuery, getSchemaPath } from '@nestjs/swagger';
import accepts from 'accepts';
import type { Request, Response } from 'express';
import { Readable } from 'node:stream';
import { CroupierError } from '../../errors/croupier-error.js';
import { majorUnits } from '../../money/money.js';
import { BoundedLogger } from '../../observability/bounded-logger.js';
import type { AdmittedRequest, ReadFurther } from '../bounded-reads.js';
import { cutOff } from '../cut-off.js';
import { CsvNumber, csvRecord } from './csv.js';
import { ListQuery, NextCursor, type PageOf } from './page.js';

/** Number of rows that an export reads at a time, which bounds its memory. */
const BATCH = 500;

/** Every field of an item, in the order of the columns. The type makes a forgotten field a compile error. */
export type Columns<T> = { readonly [K in keyof Required<T>]: true };

export function listOf<Item extends object>(item: Type<Item>, description?: string) {
  class ListResponse extends NextCursor {
    @ApiProperty({ type: [item], ...(description && { description }) })
    items: Item[];
  }
  return ListResponse;
}

export interface Listing<Q extends ListQuery, T extends object> {
  readonly query: Q;
  /** The name of the CSV file, without its extension. */
  readonly name: string;
  readonly columns: Columns<T>;
  /** @throws CroupierError INVALID_REQUEST */
  readonly read: (query: Q) => Promise<PageOf<T>>;
}

/** The format that the caller prefers; JSON if it has no preference. */
export type ListFormat =
  | { readonly is: 'json' }
  | {
      readonly is: 'csv';
      readonly target: string;
      readonly response: Response;
      readonly readFurther: ReadFurther;
    };

export const AcceptedFormat = createParamDecorator((_: unknown, context: ExecutionContext): ListFormat => {
  const [request, response] = context.getArgs<[AdmittedRequest, Response]>();
  if (!prefersCsv(request)) return { is: 'json' };
  return { is: 'csv', target: request.originalUrl, response, readFurther: request.readFurther! };
});

/** Parameters of a media range other than `q` are ignored, because each format has one form only. */
export function prefersCsv({ headers }: Request): boolean {
  const accept = headers.accept?.replace(/;(?!\s*q=)[^;,]*/gi, '');
  return accepts({ headers: { accept } } as Request).type(['application/json', 'text/csv']) === 'text/csv';
}

/**
 * Answers with one page as JSON, or with all matching items as CSV, streamed in bounded memory. With a `limit`, the CSV
 * contains one page only, and a `Link` header leads to the next one. Contract, section 7, "Lists".
 */
export async function answerList<Q extends ListQuery, T extends object>(
  format: ListFormat,
  listing: Listing<Q, T>,
): Promise<PageOf<T> | StreamableFile> {
  const { read, name } = listing;
  const { bom, ...rest } = listing.query;
  const query = rest as Q;
  if (format.is === 'json') return read(query);
  const whole = query.limit === undefined;
  // The first page is read before the status is sent, so that an invalid query is still refused.
  const first = await read(whole ? { ...query, limit: BATCH } : query);
  if (!whole && first.nextCursor !== undefined) {
    format.response.setHeader('Link', `<${nextPageOf(format.target, first.nextCursor)}>; rel="next"`);
  }
  const further: Listing<Q, T> = {
    ...listing,
    query,
    read: (page) => format.readFurther(() => read(page)),
  };
  return new StreamableFile(Readable.from(records(first, whole, further, bom === 'true')), {
    type: 'text/csv; charset=utf-8; header=present',
    disposition: `attachment; filename="${name}.csv"`,
  }).setErrorHandler((error) => cutOffExport(error, format.response));
}

const faults = new Logger('Exports');
const refusals = new BoundedLogger('Exports');

/** Cuts off an export that cannot be completed: its status has been sent, so it can no longer be refused. */
function cutOffExport(error: Error, response: Response): void {
  // The client has disconnected.
  if (response.destroyed) return;
  if (error instanceof CroupierError) {
    refusals.warn({ msg: 'an export was cut off', code: error.code, detail: error.message });
  } else {
    faults.error(error);
  }
  cutOff(response);
}

function nextPageOf(target: string, cursor: string): string {
  // A filter may contain further question marks.
  const end = target.indexOf('?');
  const parameters = new URLSearchParams(target.slice(end));
  parameters.set('cursor', cursor);
  return `${target.slice(0, end)}?${parameters.toString()}`;
}

async function* records<Q extends ListQuery, T extends object>(
  first: PageOf<T>,
  whole: boolean,
  { query, columns, read }: Listing<Q, T>,
  byteOrderMark: boolean,
): AsyncGenerator<string> {
  yield `${byteOrderMark ? '\uFEFF' : ''}${csvHeader(columns)}`;
  for (let page: PageOf<T> | undefined = first; page;) {
    yield page.items.map((item) => csvItem(columns, item)).join('');
    const { nextCursor: cursor }: PageOf<T> = page;
    page = whole && cursor !== undefined ? await read({ ...query, limit: BATCH, cursor }) : undefined;
  }
}

const MINOR = /Minor$/;

/** The name of the column in major units beside that of an amount; undefined beside any other column. */
function majorColumn(name: string): string | undefined {
  // The only amount in minor units whose name does not say so.
  if (name === 'balance') return 'balanceMajor';
  return MINOR.test(name) ? name.replace(MINOR, '') : undefined;
}

/**
 * The header record. Each amount has two adjacent columns: `amountMinor` in minor units, and `amount` in major units.
 * Contract, section 7.
 */
export function csvHeader(columns: object): string {
  return csvRecord(
    Object.keys(columns).flatMap((name) => {
      const major = majorColumn(name);
      return major === undefined ? [name] : [name, major];
    }),
  );
}

/**
 * The record of an item, in the order of the header. In an unknown currency, the amount in major units is an empty
 * field.
 */
export function csvItem<T extends object>(columns: Columns<T>, item: T): string {
  const fields = item as Readonly<Record<string, unknown>>;
  return csvRecord(
    Object.keys(columns).flatMap((name) => {
      const value = fields[name];
      if (majorColumn(name) === undefined) return [value];
      // An amount may have a currency of its own, as `operatorAmountMinor` has `operatorCurrency`.
      const own = name.endsWith('AmountMinor') ? fields[name.replace('AmountMinor', 'Currency')] : undefined;
      const currency = own ?? fields['currency'];
      const amount = typeof value === 'number' ? majorUnits(value, String(currency)) : undefined;
      return [value, amount === undefined ? undefined : new CsvNumber(amount)];
    }),
  );
}

const CSV_TEXTS =
  'Text that a spreadsheet would evaluate as a formula gets a leading apostrophe. Beside each amount ' +
  'in minor units is a column with the amount in major units.';

const PAGE_OR_ALL =
  'A page. With `Accept: text/csv`, all matching records as CSV (RFC 4180, UTF-8, streamed), or, with ' +
  'a `limit`, one page.';

const LINK_HEADER = {
  Link: {
    description:
      'Only in CSV with a `limit`, unless it is the last page: the next page, as `<target>; rel="next"`.',
    required: false,
    schema: { type: 'string' },
  },
} as const;

function isPaged(query: Type<object>): boolean {
  return query === ListQuery || query.prototype instanceof ListQuery;
}

/**
 * Documents a list: its query, its JSON and its CSV.
 * @param extent what the JSON and the CSV contain
 */
export function ApiList<T extends object>(
  answer: Type<{ items: T[] }>,
  query: Type<object>,
  columns: Columns<T>,
  extent = PAGE_OR_ALL,
): MethodDecorator {
  return applyDecorators(
    Header('Vary', 'Accept'),
    ApiQuery({ type: query }),
    ApiExtraModels(answer),
    ApiOkResponse({
      description: `${extent} ${CSV_TEXTS}`,
      ...(isPaged(query) && { headers: LINK_HEADER }),
      content: {
        'application/json': { schema: { $ref: getSchemaPath(answer) } },
        'text/csv': { schema: { type: 'string' }, example: csvHeader(columns) },
      },
    }),
  );
}
