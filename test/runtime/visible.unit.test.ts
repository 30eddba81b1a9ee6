import { expect, test } from 'vitest';
import { isFreeSpinsRef } from '../../src/wallet/rules/free-spins-ref.js';
import { visible, visibleJson, visibleParsedJson } from '../../src/runtime/visible.js';

/** The ranges of the contract's section 10, "Foreign text". */
const RANGES = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
] as const;
const unsafe = RANGES.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index)),
);

test('escapes exactly the characters of the contract', () => {
  const changed = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (character) => visible(character) !== character,
  );
  expect(changed).toEqual(unsafe);
});

test('escapes each character that a freeSpinsRef may not have, except lone surrogates', () => {
  const refused = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(
    (character) => character.isWellFormed() && !isFreeSpinsRef(character),
  );
  expect(refused).toEqual(unsafe);
});

test.each([
  ['a terminal’s escape sequence', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
  ['line breaks', 'a\r\nb\u2028c', 'a\\u000d\\u000ab\\u2028c'],
  ['a reversed text', 'pay \u202e001\u202c', 'pay \\u202e001\\u202c'],
  ['other scripts and emoji', 'Zoë 東京 👩‍💻 \\u202e', 'Zoë 東京 👩‍💻 \\u202e'],
])('%s', (_, text, shown) => {
  expect(visible(text)).toBe(shown);
  expect(visible(shown)).toBe(shown);
});

const line = (value: object) => `${JSON.stringify(value)}\n`;

test('a line of JSON keeps its meaning', () => {
  const value = { detail: unsafe.join('x'), quoted: '"\\u202e\\' };
  const shown = visibleJson(line(value));
  expect(JSON.parse(shown)).toEqual(value);
  expect(visible(shown.slice(0, -1))).toBe(shown.slice(0, -1));
});

test('a line of JSON that is parsed before it is printed is visible afterwards', () => {
  const value = { detail: unsafe.join('x'), path: 'C:\\new\\u202e', quoted: '"/' };
  expect(JSON.parse(visibleParsedJson(line(value)))).toEqual({ ...value, detail: visible(value.detail) });
});

test('the line breaks of a stack stay', () => {
  const { stack } = new Error('one\ntwo');
  const shown = (JSON.parse(visibleParsedJson(line({ stack }))) as { stack: string }).stack;
  expect(shown).toBe(stack!.replace('one\ntwo', 'one\\u000atwo'));
  expect(shown.split('\n').length).toBeGreaterThan(2);
});
