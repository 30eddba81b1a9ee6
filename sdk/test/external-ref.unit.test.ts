import { expect, test } from 'vitest';
import { FREE_SPINS_REF_SCHEMA } from '../../src/api/validation/free-spins-ref.js';
import { judgeGrant } from '../../src/free-spins/rules/answers.js';
import { isFreeSpinsRef } from '../../src/wallet/rules/free-spins-ref.js';
import { isExternalRef } from '../src/callbacks.js';

/** The first and the last code point of each range that the contract excludes, section 6. */
const EXCLUDED = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x2028, 0x2029],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
  [0xd800, 0xdfff],
] as const;

const isExcluded = (code: number) => EXCLUDED.some(([first, last]) => code >= first && code <= last);

test('the SDK and the service exclude the same code points, which are those of the contract', () => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const ref = `a${String.fromCodePoint(code)}b`;
    const accepted = !isExcluded(code);
    if (isFreeSpinsRef(ref) !== accepted || isExternalRef(ref) !== accepted) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test.each<{ what: string; value: unknown; accepted: boolean }>([
  { what: 'no characters', value: '', accepted: false },
  { what: 'a space', value: ' ', accepted: true },
  { what: 'a dot', value: '.', accepted: true },
  { what: '256 characters', value: 'x'.repeat(256), accepted: true },
  { what: '257 characters', value: 'x'.repeat(257), accepted: false },
  { what: '256 characters of four bytes', value: '😀'.repeat(256), accepted: true },
  { what: '257 characters of four bytes', value: '😀'.repeat(257), accepted: false },
  { what: 'a line break at the end', value: 'batch-1\n', accepted: false },
  { what: 'half of a surrogate pair at the end', value: '😀'.slice(0, 1), accepted: false },
  { what: 'a number', value: 7, accepted: false },
  { what: 'a list', value: ['batch-1'], accepted: false },
  { what: 'null', value: null, accepted: false },
  { what: 'nothing', value: undefined, accepted: false },
])(
  '$what: accepted is $accepted, for the SDK, the service and the judge of a grant',
  ({ value, accepted }) => {
    const fields = { externalRef: value };
    expect([
      isExternalRef(value),
      isFreeSpinsRef(value),
      judgeGrant({ kind: 'answered', status: 200, fields }).ok,
    ]).toEqual([accepted, accepted, accepted]);
  },
);

test.each(['', 'u'])('the published pattern excludes control characters with the flags "%s"', (flags) => {
  const pattern = new RegExp(FREE_SPINS_REF_SCHEMA.pattern, flags);
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const isControl = code <= 0x1f || (code >= 0x7f && code <= 0x9f);
    if (pattern.test(`a${String.fromCodePoint(code)}b`) === isControl) expect.fail(code.toString(16));
  }
});
