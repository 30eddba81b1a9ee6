import { isUtf8 } from 'node:buffer';

export interface CsvRecord {
  /** The line of the file at which the record begins, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
  /** Whether a line break ends the record; only the file's last record may lack it. */
  readonly terminated: boolean;
  /** The position of a field, computed on demand. */
  positionOf(field: number): Position;
}

/** A position in the file. Lines and columns are counted from 1, columns in characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The file is invalid at this position, and is not read further. */
export class CsvError extends Error {
  constructor(
    readonly position: Position,
    message: string,
  ) {
    super(`line ${position.line}, column ${position.column}: ${message}`);
  }
}

/** Longest record, in bytes: sixty times a usual line. A longer one probably has an unclosed quote. */
export const MAX_RECORD_BYTES = 16_384;

const [QUOTE, COMMA, CR, LF] = [0x22, 0x2c, 0x0d, 0x0a] as const;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * Reads CSV in UTF-8, strictly by RFC 4180, except that lines may also end with LF; a byte order mark is skipped.
 * Yields the records of each chunk together. Only one chunk and one incomplete record are in memory.
 * @throws CsvError with the position of the first error
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord[]> {
  const reader = new CsvReader();
  for await (const chunk of chunks) yield reader.read(chunk, false);
  yield reader.read(Buffer.alloc(0), true);
}

class CsvReader {
  private rest: Buffer = Buffer.alloc(0);
  private line = 1;
  private begun = false;

  read(chunk: Buffer, last: boolean): CsvRecord[] {
    let bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    if (!this.begun && (last || bytes.length >= BYTE_ORDER_MARK.length)) {
      this.begun = true;
      if (bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3);
    }
    const records: CsvRecord[] = [];
    let start = 0;
    while (this.begun && start < bytes.length) {
      const record = new RecordBytes(bytes, start, this.line, last);
      const end = record.scan();
      if (end === undefined) break;
      records.push(record);
      this.line = record.nextLine;
      start = end;
    }
    this.rest = bytes.subarray(start);
    return records;
  }
}

/** Parses one record within the bytes of a chunk. */
class RecordBytes implements CsvRecord {
  readonly fields: string[] = [];
  terminated = false;
  nextLine: number;
  private readonly starts: number[] = [];

  constructor(
    private readonly bytes: Buffer,
    private readonly start: number,
    readonly line: number,
    private readonly last: boolean,
  ) {
    this.nextLine = line;
  }

  positionOf(field: number): Position {
    return this.positionAt(this.starts[field] ?? this.start);
  }

  /** Reads the record and returns the offset of the next one; undefined if more bytes are needed. */
  scan(): number | undefined {
    let at = this.start;
    for (;;) {
      this.starts.push(at);
      const end = this.bytes[at] === QUOTE ? this.quoted(at) : this.plain(at);
      if (end === undefined || end - this.start > MAX_RECORD_BYTES) return this.incomplete(end);
      const byte = this.bytes[end];
      if (byte === COMMA) {
        at = end + 1;
        continue;
      }
      const breakBytes = this.lineBreak(end);
      if (breakBytes === undefined) return this.incomplete(end);
      this.terminated = breakBytes > 0;
      this.check(end);
      this.nextLine = this.line + this.breaksBefore(end) + 1;
      return end + breakBytes;
    }
  }

  /** Reads an unquoted field and returns the offset of its end; undefined if more bytes are needed. */
  private plain(start: number): number | undefined {
    let at = start;
    for (; at < this.bytes.length; at += 1) {
      const byte = this.bytes[at];
      if (byte === COMMA || byte === LF || byte === CR) break;
      if (byte === QUOTE) throw this.error(at, 'an unquoted field contains a quote');
    }
    if (at === this.bytes.length && !this.last) return undefined;
    this.fields.push(this.bytes.toString('utf8', start, at));
    return at;
  }

  private quoted(start: number): number | undefined {
    let quote = this.bytes.indexOf(QUOTE, start + 1);
    while (quote >= 0 && this.bytes[quote + 1] === QUOTE) quote = this.bytes.indexOf(QUOTE, quote + 2);
    if (quote < 0 && this.last)
      throw this.error(start, 'this quoted field is not closed: the file is cut off');
    if (quote < 0 || (quote + 1 === this.bytes.length && !this.last)) return undefined;
    this.fields.push(this.bytes.toString('utf8', start + 1, quote).replaceAll('""', '"'));
    const next = this.bytes[quote + 1];
    if (next !== undefined && next !== COMMA && next !== LF && next !== CR) {
      throw this.error(quote + 1, 'a comma or the end of the line must follow the closing quote');
    }
    return quote + 1;
  }

  /** The bytes of the line break at this offset; 0 at the end of the file, undefined if more bytes are needed. */
  private lineBreak(at: number): number | undefined {
    if (at === this.bytes.length) return 0;
    if (this.bytes[at] === LF) return 1;
    if (at + 1 === this.bytes.length && !this.last) return undefined;
    if (this.bytes[at + 1] !== LF) throw this.error(at, 'a carriage return is not followed by a line feed');
    return 2;
  }

  private incomplete(end: number | undefined): undefined {
    if ((end ?? this.bytes.length) - this.start > MAX_RECORD_BYTES) {
      const field = this.starts.at(-1) ?? this.start;
      throw this.error(field, `the line goes on for more than ${MAX_RECORD_BYTES} bytes from its beginning`);
    }
    return undefined;
  }

  private check(end: number): void {
    const record = this.bytes.subarray(this.start, end);
    if (!isUtf8(record)) throw this.error(this.start + validBytes(record), 'this is not UTF-8');
    const nul = record.indexOf(0);
    if (nul >= 0) throw this.error(this.start + nul, 'there is a NUL byte here');
  }

  private breaksBefore(end: number): number {
    let breaks = 0;
    for (
      let at = this.bytes.indexOf(LF, this.start);
      at >= 0 && at < end;
      at = this.bytes.indexOf(LF, at + 1)
    ) {
      breaks += 1;
    }
    return breaks;
  }

  private error(at: number, message: string): CsvError {
    return new CsvError(this.positionAt(at), message);
  }

  private positionAt(at: number): Position {
    const lineStart = at > this.start ? this.bytes.lastIndexOf(LF, at - 1) + 1 : this.start;
    const text = this.bytes.toString('utf8', Math.max(lineStart, this.start), at);
    return { line: this.line + this.breaksBefore(at), column: [...text].length + 1 };
  }
}

/** The number of bytes before the first byte that is not UTF-8. */
function validBytes(bytes: Buffer): number {
  for (let length = bytes.length; length > 0; length -= 1) {
    if (isUtf8(bytes.subarray(0, length))) return length;
  }
  return 0;
}
