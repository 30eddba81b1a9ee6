import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { CAUSES } from '../src/debug/causes.js';

test('the table of causes in the documentation has the causes of the code', async () => {
  const document = await readFile(
    new URL('../../docs/integrate/debug-signature.md', import.meta.url),
    'utf8',
  );
  const rows = document
    .split('\n')
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()))
    .filter((cells) => cells.length === 2 && cells[0]?.startsWith('`'));
  expect(rows.map(([code, meaning]) => [code?.slice(1, -1), meaning])).toEqual(Object.entries(CAUSES));
});
