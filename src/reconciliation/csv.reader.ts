import { isUtf8 } from 'node:buffer';
import { CsvError as ParserError, parse } from 'csv-parse';

/** The file is invalid at this position, and is not read further. */
export class CsvError extends Error {
  /** @param column from 1, in characters */
  constructor(line: number, column: number, message: string) {
    super(`line ${line}, column ${column}: ${message}`);
  }
}

/** Longest record, in bytes: sixty times a usual line. A longer one probably has an unclosed quote. */
export const MAX_RECORD_BYTES = 16_384;

const [QUOTE, COMMA, CR, LF] = [0x22, 0x2c, 0x0d, 0x0a] as const;

/**
 * Reads CSV in UTF-8, strictly by RFC 4180, except that lines may also end with LF. Yields the records of each chunk
 * together. Only one chunk and one incomplete record are in memory.
 * @throws CsvError with the position of the first error
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord[]> {
  const reader = new CsvReader();
  for await (const chunk of chunks) yield reader.read(chunk);
  yield reader.end();
}

class CsvReader {
  private records: CsvRecord[] = [];
  /** The incomplete record, and its offset in the file. */
  private rest = new CsvRecord(1, Buffer.alloc(0));
  private restOffset = 0;
  private readonly parser = parse({
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    on_record: (fields: string[], { bytes }) => this.add(fields, bytes),
  }).on('error', () => undefined); // `parsed` throws the error.

  async read(chunk: Buffer): Promise<CsvRecord[]> {
    this.rest = new CsvRecord(this.rest.line, Buffer.concat([this.rest.bytes, chunk]));
    await this.parsed((done) => this.parser.write(chunk, done));
    this.rest.checkLength();
    return this.records.splice(0);
  }

  async end(): Promise<CsvRecord[]> {
    await this.parsed((done) => this.parser.end(done));
    return this.records;
  }

  private parsed(work: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      work((error) => {
        if (error) reject(error instanceof ParserError ? this.rest.refusal(error) : error);
        else resolve();
      });
    });
  }

  /**
   * Returns nothing, so that the parser keeps no records.
   * @param end the offset of the next record in the file
   */
  private add(fields: string[], end: number): undefined {
    const { line, bytes } = this.rest;
    const record = new CsvRecord(line, bytes.subarray(0, end - this.restOffset), fields);
    record.check();
    this.records.push(record);
    this.rest = new CsvRecord(record.nextLine, bytes.subarray(end - this.restOffset));
    this.restOffset = end;
  }
}

/** A record. Its positions in the file are computed from its bytes, on demand. */
export class CsvRecord {
  /** @param line the line of the file at which the record begins, from 1 */
  constructor(
    readonly line: number,
    readonly bytes: Buffer,
    readonly fields: readonly string[] = [],
  ) {}

  /** Whether a line break ends the record; only the file's last record may lack it. */
  get terminated(): boolean {
    return this.bytes.at(-1) === LF;
  }

  get nextLine(): number {
    return this.line + this.linesBefore(this.bytes.length).length - 1;
  }

  errorInField(field: number, message: string): CsvError {
    return this.error(fieldStarts(this.bytes)[field] ?? 0, message);
  }

  /** Checks what the parser does not. */
  check(): void {
    const { bytes } = this;
    this.checkLength();
    let valid = bytes.length;
    while (!isUtf8(bytes.subarray(0, valid))) valid -= 1;
    if (valid < bytes.length) throw this.error(valid, 'this is not UTF-8');
    const nul = bytes.indexOf(0);
    if (nul >= 0) throw this.error(nul, 'there is a NUL byte here');
    if (bytes.at(-1) === CR) {
      throw this.error(bytes.length - 1, 'a carriage return is not followed by a line feed');
    }
  }

  checkLength(): void {
    if (this.bytes.length <= MAX_RECORD_BYTES) return;
    const field = fieldStarts(this.bytes.subarray(0, MAX_RECORD_BYTES)).length - 1;
    const message = `the line goes on for more than ${MAX_RECORD_BYTES} bytes from its beginning`;
    throw this.errorInField(field, message);
  }

  /** The error of the parser, which stopped in this record. */
  refusal({ code, column }: ParserError): CsvError {
    const { bytes } = this;
    const start = fieldStarts(bytes)[Number(column)] ?? 0;
    if (code === 'INVALID_OPENING_QUOTE' && bytes[start] !== QUOTE) {
      return this.error(bytes.indexOf(QUOTE, start), 'an unquoted field contains a quote');
    }
    if (code === 'CSV_QUOTE_NOT_CLOSED') {
      return this.error(start, 'this quoted field is not closed: the file is cut off');
    }
    let end = bytes.indexOf(QUOTE, start + 1) + 1;
    while (bytes[end] === QUOTE) end = bytes.indexOf(QUOTE, end + 1) + 1;
    return this.error(end, 'a comma or the end of the line must follow the closing quote');
  }

  private error(at: number, message: string): CsvError {
    const lines = this.linesBefore(at);
    return new CsvError(this.line + lines.length - 1, [...lines.at(-1)!].length + 1, message);
  }

  private linesBefore(at: number): string[] {
    return this.bytes.toString('utf8', 0, at).split('\n');
  }
}

/** The offset of each field. */
function fieldStarts(record: Buffer): number[] {
  const starts = [0];
  let quoted = false;
  for (const [at, byte] of record.entries()) {
    if (byte === QUOTE) quoted = !quoted;
    else if (byte === COMMA && !quoted) starts.push(at + 1);
  }
  return starts;
}
