import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJsonObject } from '../../src/api/validation/json.js';

const bytes = (text: string) => Buffer.from(text);

/** Whether the exact value of a literal is an integer, computed with big integers. */
function isIntegerExactly(literal: string): boolean {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? [];
  expect(sign).toBeDefined();
  const digits = BigInt(whole + fraction);
  const shift = Number(exponent) - fraction.length;
  return shift >= 0 || digits % 10n ** BigInt(-shift) === 0n;
}

const digits = (maximum: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: maximum });
const literal = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: digits(18).map((text) => text.replace(/^0+(?=\d)/, '')),
    fraction: fc.option(digits(8), { nil: undefined }),
    exponent: fc.option(fc.integer({ min: -20, max: 20 }), { nil: undefined }),
  })
  .map(({ sign, whole, fraction, exponent }) =>
    [
      sign,
      whole,
      fraction === undefined ? '' : `.${fraction}`,
      exponent === undefined ? '' : `e${exponent}`,
    ].join(''),
  );

/** White space that JSON allows between a colon and a value. */
const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });

describe('a number', () => {
  test('is read as an integer only if its literal is one', () => {
    fc.assert(
      fc.property(literal, space, (text, before) => {
        const { n } = parseJsonObject(bytes(`{"n":${before}${text}}`)) as { n: number };
        if (Number.isSafeInteger(n)) expect(isIntegerExactly(text)).toBe(true);
        // An integer above 2^53 is refused by its size, and one below is exact.
        else expect(isIntegerExactly(text) && Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });

  test('is read in the same way at every position', () => {
    const big = '9007199254740990.6';
    const { a, b } = parseJsonObject(bytes(`{"a":[${big},${big}, ${big}],"b":{"c" :${big}}}`))!;
    expect([...(a as number[]), (b as { c: number }).c]).toEqual([0.5, 0.5, 0.5, 0.5]);
  });

  test('within a text remains text', () => {
    expect(parseJsonObject(bytes('{"a":"9007199254740990.6","b\\"1.5e3":"\\\\1.5","c":0.5}'))).toEqual({
      a: '9007199254740990.6',
      'b"1.5e3': '\\1.5',
      c: 0.5,
    });
  });
});

test('every object is read as by JSON.parse', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value);
      expect(parseJsonObject(bytes(text))).toEqual(JSON.parse(text));
    }),
  );
});
