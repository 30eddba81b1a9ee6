import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Operation } from '../openapi/operations.js';
import { instantOfStatementMs, instantOrDayMs } from '../runtime/instant.js';
import { visible } from '../runtime/visible.js';
import { jsonAnswer, send } from './faults/delivery.js';
import type { Ledger, LedgerEntry } from './ledger.js';
import type { OpenRoute } from './open-route.js';

export const STATEMENT_PATH = '/sandbox/statement';

/** In the order that `npm run reconcile` demands. Contract, section 7, "Reconciliation". */
const COLUMNS = [
  'providerId',
  'transactionId',
  'kind',
  'originalTransactionId',
  'playerRef',
  'currency',
  'amountMinor',
  'status',
  'bookedAt',
] as const satisfies readonly (keyof LedgerEntry)[];
const QUOTED = /[",]/;
/** Number of lines that are sent at a time. */
const CHUNK_LINES = 1_000;

/** A range of booking times, from ≤ time < to, as Unix time in milliseconds. */
interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Serves the operator's statement: what the ledger has booked in a range of time, as CSV. */
export function statementRoute(ledger: Ledger): OpenRoute {
  return {
    path: STATEMENT_PATH,
    operation: OPERATION,
    get: async (parameters, response) => {
      const range = rangeIn(parameters);
      if (typeof range === 'string') return send(response, jsonAnswer(400, { error: range }));
      response.writeHead(200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="statement.csv"',
      });
      return pipeline(Readable.from(chunksOf(ledger.entries(), range)), response);
    },
  };
}

/** The range that the parameters name, without a bound if one is missing; or a sentence that says what is wrong. */
function rangeIn(parameters: URLSearchParams): Range | string {
  const names = [...parameters.keys()];
  const unknown = names.find((name) => name !== 'from' && name !== 'to');
  if (unknown !== undefined) return `${unknown} is not known`;
  if (new Set(names).size < names.length) return 'from and to can be given once';
  const [fromMs, toMs] = [boundIn(parameters, 'from', -Infinity), boundIn(parameters, 'to', Infinity)];
  if (typeof fromMs === 'string') return fromMs;
  if (typeof toMs === 'string') return toMs;
  return fromMs < toMs ? { fromMs, toMs } : 'to must be later than from';
}

function boundIn(parameters: URLSearchParams, name: string, missing: number): number | string {
  const text = parameters.get(name);
  if (text === null) return missing;
  const ms = instantOrDayMs(text) ?? instantOfStatementMs(text);
  return ms ?? `${name} must be a time with Z or an offset, such as 2026-03-01T00:00:00Z, or a day`;
}

function* chunksOf(entries: readonly LedgerEntry[], { fromMs, toMs }: Range): Generator<string> {
  yield lineOf(COLUMNS);
  for (let start = 0; start < entries.length; start += CHUNK_LINES) {
    const lines = entries.slice(start, start + CHUNK_LINES).filter(({ bookedAt }) => {
      const bookedAtMs = Date.parse(bookedAt);
      return bookedAtMs >= fromMs && bookedAtMs < toMs;
    });
    yield lines.map((entry) => lineOf(COLUMNS.map((column) => entry[column] ?? ''))).join('');
  }
}

/**
 * A line of RFC 4180. Text that a spreadsheet would evaluate as a formula stays as it is, because reconciling compares
 * the identifiers.
 */
function lineOf(values: readonly (string | number)[]): string {
  const fields = values.map((value) => {
    const text = visible(String(value));
    return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${fields.join(',')}\r\n`;
}

const BOUND = { in: 'query', schema: { type: 'string' } } as const;

const OPERATION: Operation = {
  tags: ['statement'],
  operationId: 'readStatement',
  summary: "Returns the operator's statement",
  description:
    'What the wallet has booked in a range of time, in the format that `npm run reconcile` and ' +
    '`POST /v1/admin/reconciliations` read.',
  parameters: [
    { ...BOUND, name: 'from', description: 'The earliest time; by default, all times before `to`.' },
    {
      ...BOUND,
      name: 'to',
      description: 'The first time after the range; by default, all times from `from` on.',
    },
  ],
  responses: {
    200: {
      description: 'One line for each booked transaction.',
      content: { 'text/csv': { schema: { type: 'string' } } },
    },
    400: {
      description: 'A parameter is invalid.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['error'],
            properties: { error: { type: 'string', example: 'to must be later than from' } },
          },
        },
      },
    },
  },
};
