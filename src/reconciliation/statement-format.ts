import { CsvError, MAX_RECORD_BYTES } from './csv.reader.js';

const LF = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const BYTE_ORDER_MARKS_OF_UTF_16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];
const OTHER_SEPARATORS: readonly (readonly [separator: string, name: string])[] = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
];

/**
 * Passes on a file that may be a statement, without its byte order mark. Other formats that spreadsheets save as CSV are
 * refused by their name, because the first error in their content would not tell what to do.
 * @throws CsvError if the file is in UTF-16, or its first line has semicolons or tabs but no comma
 */
export async function* checkedFormat(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  let checked = false;
  for await (const chunk of chunks) {
    if (checked) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    checked = head.includes(LF) || head.length > MAX_RECORD_BYTES;
    if (checked) yield checkFormat(head);
  }
  if (!checked) yield checkFormat(head);
}

function checkFormat(head: Buffer): Buffer {
  if (isUtf16(head)) throw new CsvError(1, 1, 'the file is in UTF-16: save it in UTF-8');
  const text = head.subarray(head.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0);
  const [line = ''] = text.toString().split('\n', 1);
  for (const [separator, name] of OTHER_SEPARATORS) {
    const at = line.indexOf(separator);
    if (at >= 0 && !line.includes(','))
      throw new CsvError(1, at + 1, `the fields are separated by ${name}: use commas`);
  }
  return text;
}

/** Text in UTF-16 has a byte order mark, or, as the header is ASCII, a NUL as one of its first two bytes. */
function isUtf16(head: Buffer): boolean {
  const start = head.subarray(0, 2);
  return start.includes(0) || BYTE_ORDER_MARKS_OF_UTF_16.some((mark) => mark.equals(start));
}
