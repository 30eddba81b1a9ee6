import { expect, test } from 'vitest';
import { instantMs } from '../../src/runtime/instant.js';
import { HEADER, readStatement, type StatementLine } from '../../src/reconciliation/statement.js';

const LINE = 'spinwell,bet-1,BET,,player-1,EUR,100,APPROVED,2026-03-01T10:00:00Z';

async function read(...contents: readonly (string | Buffer)[]): Promise<StatementLine[]> {
  async function* chunks() {
    for (const content of contents) yield Buffer.from(content);
  }
  const lines: StatementLine[] = [];
  for await (const some of readStatement(chunks())) lines.push(...some);
  return lines;
}

/** Each byte as a chunk. */
const bytesOf = (content: string | Buffer) => Array.from(Buffer.from(content), (byte) => Buffer.of(byte));

/** A line with one field replaced. */
function line(field: number, value: string): string {
  return LINE.split(',').with(field, value).join(',');
}

test('a line is read as it is written', async () => {
  expect(await read(`\uFEFF${HEADER}\r\n${LINE}`)).toEqual([
    {
      line: 2,
      providerId: 'spinwell',
      transactionId: 'bet-1',
      kind: 'BET',
      originalTransactionId: '',
      playerRef: 'player-1',
      currency: 'EUR',
      amountMinor: 100,
      status: 'APPROVED',
      bookedAt: '2026-03-01T10:00:00Z',
      bookedAtMs: Date.UTC(2026, 2, 1, 10),
    },
  ]);
});

test.each([
  ['nothing', '', 1, 1],
  ['another header', `${HEADER.replace('kind', 'type')}\n`, 1, 26],
  ['a header with one field more', `${HEADER},note\n`, 1, HEADER.length + 2],
  ['a header that is cut off', HEADER.slice(0, 30), 1, 31],
  ['a field too few', `${HEADER}\n${LINE}\na,b,c\n`, 3, 5],
  ['a field too many', `${HEADER}\n${LINE},more\n`, 2, LINE.length + 2],
  ['an empty line', `${HEADER}\n\n${LINE}\n`, 2, 1],
  ['a thousand empty lines and one more', `${HEADER}${'\n'.repeat(1002)}`, 1002, 1],
  ['two empty lines', `${HEADER}\n${LINE}\n\n\n${LINE}\n`, 3, 1],
  ['no provider', `${HEADER}\n${line(0, '')}\n`, 2, 1],
  ['no id', `${HEADER}\n${line(1, '')}\n`, 2, 10],
  ['an id that is too long', `${HEADER}\n${line(1, 'x'.repeat(257))}\n`, 2, 10],
  ['no currency', `${HEADER}\n${line(5, '')}\n`, 2, 30],
  ['another kind', `${HEADER}\n${line(2, 'STAKE')}\n`, 2, 16],
  ['an amount in major units', `${HEADER}\n${line(6, '1.00')}\n`, 2, 34],
  ['an amount that is not a number', `${HEADER}\n${line(6, '')}\n`, 2, 34],
  ['an amount beyond 2^53-1', `${HEADER}\n${line(6, '9007199254740992')}\n`, 2, 34],
  ['a signed BET', `${HEADER}\n${line(6, '-100')}\n`, 2, 34],
  ['another status', `${HEADER}\n${line(7, 'OK')}\n`, 2, 38],
])('%s is refused with line and column', async (_, content, at, column) => {
  await expect(read(content)).rejects.toThrow(new RegExp(`^line ${at}, column ${column}: `));
});

test.each([
  ['an empty line', '', 'the line is empty'],
  ['one field', 'spinwell', 'the line has 1 field instead of 9'],
  ['two fields', 'spinwell,bet-1', 'the line has 2 fields instead of 9'],
])('the refusal of %s says so', async (_, text, words) => {
  await expect(read(`${HEADER}\n${text}\n${LINE}\n`)).rejects.toThrow(new RegExp(`: ${words}$`));
});

test.each([
  ['semicolons', `${HEADER}\n${LINE}\n`.replaceAll(',', ';'), 11, 'separated by semicolons'],
  ['semicolons and quotes', `"${HEADER.replaceAll(',', '";"')}"\n`, 13, 'separated by semicolons'],
  ['the line that Excel adds before semicolons', `sep=;\r\n${HEADER.replaceAll(',', ';')}`, 5, 'semicolons'],
  ['tabs', `${HEADER}\n${LINE}\n`.replaceAll(',', '\t'), 11, 'separated by tabs'],
  ['UTF-16', Buffer.from(`\uFEFF${HEADER}\n${LINE}\n`, 'utf16le'), 1, 'UTF-16'],
  ['UTF-16, big-endian', Buffer.from(`\uFEFF${HEADER}\n${LINE}`, 'utf16le').swap16(), 1, 'UTF-16'],
  ['UTF-16 without a byte order mark', Buffer.from(`${HEADER}\n`, 'utf16le'), 1, 'UTF-16'],
])('a file with %s is refused by its name', async (_, content, column, words) => {
  await expect(read(content)).rejects.toThrow(new RegExp(`^line 1, column ${column}: .*${words}[^.]*$`));
  await expect(read(...bytesOf(content))).rejects.toThrow(words);
});

test.each(['\n', '\r\n', '\n\n\n', '\r\n\r\n'])('empty lines at the end (%j) are skipped', async (end) => {
  const content = `${HEADER}\n${LINE}\n${end}`;
  expect(await read(content)).toHaveLength(1);
  expect(await read(...bytesOf(content))).toHaveLength(1);
});

test.each([
  ['2026-03-01 10:00:00.5+00', '2026-03-01T10:00:00.500Z'],
  ['2026-03-01T10:00:00+0000', '2026-03-01T10:00:00Z'],
  ['2026-03-01 10:00:00+02', '2026-03-01T08:00:00Z'],
  ['2026-03-01T10:00-05', '2026-03-01T15:00:00Z'],
  ['2026-03-01T10:00:00+24', null],
  ['2026-03-01T10-05', null],
])('bookedAt may have an offset in hours: %s names %s', async (bookedAt, instant) => {
  const [only] = await read(`${HEADER}\n${line(8, bookedAt)}\n`);
  expect(only?.bookedAtMs).toBe(instant === null ? null : Date.parse(instant));
});

test('only an ADJUSTMENT is signed', async () => {
  const [read_] = await read(`${HEADER}\n${line(2, 'ADJUSTMENT').replace(',100,', ',-100,')}\n`);
  expect(read_?.amountMinor).toBe(-100);
});

test.each([
  ['2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01t10:00z', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01 10:00:00.1239+02:00', '2026-03-01T08:00:00.123Z'],
  ['2026-03-01T00:30:00-0330', '2026-03-01T04:00:00.000Z'],
  ['2024-02-29T23:59:59.999999Z', '2024-02-29T23:59:59.999Z'],
  ['9999-12-31T23:59-23:59', '9999-12-31T23:59:59.999Z'],
  ['2026-03-01T10:00:00', null],
  ['2026-03-01', null],
  ['2026-02-29T10:00:00Z', null],
  ['2026-13-01T10:00:00Z', null],
  ['2026-03-01T24:00:00Z', null],
  ['2026-03-01T10:60:00Z', null],
  ['2026-03-01T10:00:00+24:00', null],
  ['2026-03-01T10:00:00 CET', null],
  ['01/02/2026 10:00', null],
  ['1772359200', null],
  ['', null],
])('the time %s names %s', (text, instant) => {
  expect(instantMs(text)).toBe(instant === null ? null : Date.parse(instant));
});

test.each(['', '2026', '2026-03-0', '2026-03-01T', '2026-03-01 1', '2026-03-01T10:0', '2026-03-01T10:00:0'])(
  'a time that is cut off (%s) is refused with line and column',
  async (time) => {
    const reading = read(`${HEADER}\n${LINE}\n${line(8, time)}`);
    await expect(reading).rejects.toThrow('line 3, column 47: bookedAt is cut off');
  },
);

test.each(['2026-03-01T10:00:00', '2026-03-01T10:00', '2026-03-01', '01/02/2026 10:00', 'yesterday'])(
  'an ambiguous time (%s) does not stop the reading, even at the end of the file',
  async (time) => {
    expect((await read(`${HEADER}\n${line(8, time)}`))[0]?.bookedAtMs).toBeNull();
  },
);
