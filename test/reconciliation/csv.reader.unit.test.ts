import { expect, test } from 'vitest';
import { CsvError, MAX_RECORD_BYTES, readCsv } from '../../src/reconciliation/csv.reader.js';

/** Every way of splitting the bytes into chunks must have the same result. */
async function read(content: string | Buffer, chunkBytes = 1_000_000): Promise<string[][]> {
  const bytes = Buffer.from(content as string);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const rows: string[][] = [];
  for await (const records of readCsv(chunks())) {
    rows.push(...records.map(({ line, fields }) => [String(line), ...fields]));
  }
  return rows;
}

test.each([
  ['lines that end with LF', 'a,b\nc,d\n', [['1', 'a', 'b'], ['2', 'c', 'd']]], // prettier-ignore
  ['lines that end with CRLF', 'a,b\r\nc,d\r\n', [['1', 'a', 'b'], ['2', 'c', 'd']]], // prettier-ignore
  ['a last line without an end', 'a\nb', [['1', 'a'], ['2', 'b']]], // prettier-ignore
  ['an empty file', '', []],
  ['empty fields', ',\n', [['1', '', '']]],
  ['quotes', '"a ""b"", c",d\n', [['1', 'a "b", c', 'd']]],
  ['an empty quoted field at the end', 'a,""', [['1', 'a', '']]],
  ['line breaks within quotes', '"a\nb\r\nc",d\ne\n', [['1', 'a\nb\r\nc', 'd'], ['4', 'e']]], // prettier-ignore
  ['characters of every length', 'é,€,😀\n', [['1', 'é', '€', '😀']]],
])('%s are read', async (_, content, rows) => {
  for (const chunkBytes of [1_000_000, 1, 2, 3, 5]) expect(await read(content, chunkBytes)).toEqual(rows);
});

test.each([
  ['a quote in a plain field', 'a\nbc"d\n', 2, 3],
  ['text after a closing quote', 'a\n"b"c\n', 2, 4],
  ['a carriage return without a line feed', 'é\rb\n', 1, 2],
  ['a quote that is not closed', 'a,b\nc,"d\ne\n', 2, 3],
  ['a NUL', 'ab\0c\n', 1, 3],
  ['a NUL in a quoted field after a line break', '"a\nb\0"\n', 2, 2],
  ['bytes that are not UTF-8', Buffer.from([0x61, 0x2c, 0xc3, 0x28, 0x0a]), 1, 3],
  ['UTF-8 that is cut off', Buffer.from([0x61, 0xe2, 0x82]), 1, 2],
  ['UTF-16', Buffer.from('\uFEFFa,b\n', 'utf16le'), 1, 1],
  ['a line without end', `a\nb,${'x'.repeat(2 * MAX_RECORD_BYTES)}`, 2, 3],
  ['a quoted field without end', `a,"${'x\n'.repeat(MAX_RECORD_BYTES)}`, 1, 3],
])('%s is refused with its position', async (_, content, line, column) => {
  for (const chunkBytes of [1_000_000, 1, 1000]) {
    const error = await read(content, chunkBytes).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CsvError);
    expect((error as CsvError).message).toMatch(new RegExp(`^line ${line}, column ${column}: `));
  }
});
