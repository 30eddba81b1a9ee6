import { instantOfStatementMs } from '../runtime/instant.js';
import { CsvError, type CsvRecord, readCsv } from './csv.reader.js';
import type { OperatorLine } from './rules/compare.js';
import { checkedFormat } from './statement-format.js';

/** The exact header of a statement. Contract, section 7, "Reconciliation". */
export const HEADER =
  'providerId,transactionId,kind,originalTransactionId,playerRef,currency,amountMinor,status,bookedAt';

export interface StatementLine extends OperatorLine {
  /** The line number in the file, from 1; the header is line 1. */
  readonly line: number;
  /** Unix time in milliseconds; null if `bookedAt` is not a time with `Z` or an offset, such as `+02:00` or `+02`. */
  readonly bookedAtMs: number | null;
}

const COLUMNS = HEADER.split(',');
const KINDS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'];
const [KIND, CURRENCY, AMOUNT, STATUS, BOOKED_AT] = [2, 5, 6, 7, 8] as const;
/** Longest field, in characters: twice the length of the longest identifier. */
const MAX_FIELD_CHARACTERS = 256;
/** Maximum number of empty lines at the end. A file of nothing else would have millions of records. */
const MAX_EMPTY_LINES = 1_000;
const LOCAL_TIME = '0000-00-00T00:00:00';
/** Lengths of a local time that ends with its day, minute or second, in characters. Such a time counts as complete. */
const WHOLE_LENGTHS = [10, 16, 19];
const INTEGER = /^(?:0|-?[1-9]\d{0,15})$/;

/**
 * Reads a statement. Yields the lines of each chunk together. Empty lines at the end are skipped.
 * @throws CsvError with line and column if the file does not comply with the contract's section 7
 */
export async function* readStatement(chunks: AsyncIterable<Buffer>): AsyncGenerator<StatementLine[]> {
  let header = false;
  let empty: CsvRecord | undefined;
  let emptyLines = 0;
  for await (const records of readCsv(checkedFormat(chunks))) {
    const lines: StatementLine[] = [];
    for (const record of records) {
      if (!header) header = checkHeader(record);
      else if (isEmpty(record)) {
        empty ??= record;
        emptyLines += 1;
        if (emptyLines > MAX_EMPTY_LINES)
          refuse(record, 0, `there are more than ${MAX_EMPTY_LINES} empty lines`);
      }
      // An empty line before another line may have lost its content, so it is refused.
      else lines.push(statementLine(empty ?? record));
    }
    yield lines;
  }
  if (!header) throw new CsvError(1, 1, `the file is empty; its header must be ${HEADER}`);
}

function isEmpty({ fields }: CsvRecord): boolean {
  return fields.length === 1 && fields[0] === '';
}

function checkHeader(record: CsvRecord): true {
  const wrong = COLUMNS.findIndex((name, index) => record.fields[index] !== name);
  if (wrong < 0 && record.fields.length === COLUMNS.length) return true;
  const field = wrong < 0 ? COLUMNS.length : Math.min(wrong, record.fields.length - 1);
  throw record.errorInField(field, `the header must be exactly ${HEADER}`);
}

function statementLine(record: CsvRecord): StatementLine {
  const { fields } = record;
  if (isEmpty(record)) refuse(record, 0, 'the line is empty');
  if (fields.length !== COLUMNS.length) {
    const what = `the line has ${fields.length} ${fields.length === 1 ? 'field' : 'fields'} instead of ${COLUMNS.length}`;
    refuse(
      record,
      Math.min(fields.length - 1, COLUMNS.length),
      record.terminated ? what : `${what}: it is cut off`,
    );
  }
  const long = fields.findIndex((field) => field.length > MAX_FIELD_CHARACTERS);
  if (long >= 0) refuse(record, long, `${COLUMNS[long]} is longer than ${MAX_FIELD_CHARACTERS} characters`);
  const [providerId, transactionId, kind, originalTransactionId, playerRef] = fields as [
    string,
    string,
    string,
    string,
    string,
  ];
  const [currency, amount, status, bookedAt] = fields.slice(5) as [string, string, string, string];
  if (providerId === '') refuse(record, 0, 'providerId is empty');
  if (transactionId === '') refuse(record, 1, 'transactionId is empty');
  if (!KINDS.includes(kind)) refuse(record, KIND, `kind must be one of ${KINDS.join(', ')}`);
  if (currency === '') refuse(record, CURRENCY, 'currency is empty');
  const amountMinor = INTEGER.test(amount) ? Number(amount) : NaN;
  if (!Number.isSafeInteger(amountMinor)) {
    refuse(record, AMOUNT, 'amountMinor must be a whole number of minor units, at most 2^53-1');
  }
  if (amountMinor < 0 && kind !== 'ADJUSTMENT') {
    refuse(record, AMOUNT, 'amountMinor carries a sign in an ADJUSTMENT only');
  }
  if (status !== 'APPROVED' && status !== 'DECLINED') {
    refuse(record, STATUS, 'status must be APPROVED or DECLINED');
  }
  if (!record.terminated && isCutOff(bookedAt)) refuse(record, BOOKED_AT, 'bookedAt is cut off');
  return {
    line: record.line,
    providerId,
    transactionId,
    kind,
    originalTransactionId,
    playerRef,
    currency,
    amountMinor,
    status,
    bookedAt,
    bookedAtMs: instantOfStatementMs(bookedAt),
  };
}

/** Whether the text is a truncated time, as at the end of an incompletely written file. */
function isCutOff(text: string): boolean {
  if (WHOLE_LENGTHS.includes(text.length)) return false;
  return LOCAL_TIME.startsWith(text.replaceAll(/\d/g, '0').replace(' ', 'T'));
}

function refuse(record: CsvRecord, field: number, message: string): never {
  throw record.errorInField(field, message);
}
