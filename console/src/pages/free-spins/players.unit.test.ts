import { expect, test } from 'vitest';
import { judge, linesOf, linesOfCsv } from './players.ts';

test('each wrong line has its number and its fault', () => {
  const text = `ann\r\n\nbob smith\n  cid  \nann\n..\n${'x'.repeat(129)}\nzoë\na,b`;
  expect(judge(linesOf(text))).toEqual({
    players: ['ann', 'cid', 'a,b'],
    wrong: [
      { number: 3, text: 'bob smith', fault: { kind: 'characters' } },
      { number: 5, text: 'ann', fault: { kind: 'repeated', first: 1 } },
      { number: 6, text: '..', fault: { kind: 'path' } },
      { number: 7, text: 'x'.repeat(129), fault: { kind: 'length' } },
      { number: 8, text: 'zoë', fault: { kind: 'characters' } },
    ],
  });
});

test.each([
  { file: '\uFEFFname,playerRef\nAnn,p-1\n"Bob; ""B""",p-2\n', players: ['p-1', 'p-2'], last: 3 },
  { file: 'name;playerRef\r\nAnn;p-1\r\n\r\nBob;p-2\r\n', players: ['p-1', 'p-2'], last: 4 },
  { file: 'p-1\np-2\n', players: ['p-1', 'p-2'], last: 2 },
])('players of the file $file', async ({ file, players, last }) => {
  const lines = await linesOfCsv(file);
  expect(lines.map(({ text }) => text)).toEqual(players);
  expect(lines.at(-1)?.number).toBe(last);
});

test('a file that is no CSV is refused with the line', async () => {
  await expect(linesOfCsv('p-1\n"p-2\n')).rejects.toThrow(/^The file is not CSV: .*line 2/);
});
