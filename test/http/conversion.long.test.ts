import { IsInt } from 'class-validator';
import { describe, expect, test } from 'vitest';
import { PageQuery } from '../../src/api/lists/page.js';
import { parseJsonObject } from '../../src/api/validation/json.js';
import { validInstance } from '../../src/api/validation/request-instance.js';
import { OperatorBatchRequest } from '../../src/free-spins/free-spins.request.js';
import { TRANSACTION_REQUESTS, TransactionRequest } from '../../src/wallet/transaction.request.js';
import { ACCEPTED, knownFields } from './requests.js';

/** More levels than a recursive function can descend on Node's default stack, within the limit of a body. */
const DEEP = 10_000;

const NESTED = {
  'a deep list': '['.repeat(DEEP) + ']'.repeat(DEEP),
  'a deep object': '{"a":'.repeat(DEEP) + 'null' + '}'.repeat(DEEP),
  'a deep object in a list': `[${'{"a":'.repeat(DEEP)}null${'}'.repeat(DEEP)}]`,
  'an object with a constructor': '{"constructor":1}',
  'an object whose constructor is an object': '{"constructor":{"prototype":{"polluted":true}}}',
  'a list of objects with a constructor': '[{"constructor":1}]',
  'an object with a prototype': '{"__proto__":{"polluted":true}}',
  'an object that looks like a promise': '{"then":1}',
};

const parsed = (text: string) => parseJsonObject(Buffer.from(text))!;

describe.each(Object.entries(NESTED))('%s', (_, nested) => {
  test.each([...ACCEPTED.keys()].map((type) => [type.name, type] as const))(
    'is refused in every field of %s',
    (__, type) => {
      for (const field of knownFields(type))
        for (const reading of ['strict', 'lenient'] as const) {
          const [example] = ACCEPTED.get(type)!;
          const fields = { ...example, ...parsed(`{${JSON.stringify(field)}:${nested}}`) };
          // The example is a BET, which refuses the fields of a WIN whatever their value.
          const refusal = new RegExp(`^${field}(\\[0\\])? (must|is for a WIN only)`);
          expect(() => validInstance(type, fields, reading)).toThrow(refusal);
        }
    },
  );

  test('is ignored in an unknown field of a provider', () => {
    const bet = TRANSACTION_REQUESTS.BET.value;
    const fields = parsed(`{"extra":${nested},${JSON.stringify(bet).slice(1)}`);
    expect(validInstance(TransactionRequest, fields, 'lenient')).toEqual(bet);
    expect({}).not.toHaveProperty('polluted');
  });
});

test.each(['__proto__', 'constructor', 'prototype', 'toString', 'then'])(
  'the key %s of a body changes nothing',
  (key) => {
    const bet = TRANSACTION_REQUESTS.BET.value;
    const fields = parsed(`{"${key}":{"amountMinor":1,"polluted":true},${JSON.stringify(bet).slice(1)}`);
    const request = validInstance(TransactionRequest, fields, 'lenient');
    expect(Object.getPrototypeOf(request)).toBe(TransactionRequest.prototype);
    expect({ ...request }).toStrictEqual(bet);
    expect({}).not.toHaveProperty('polluted');
    expect(() => validInstance(TransactionRequest, fields, 'strict')).toThrow(
      `"${key}" is not a known field`,
    );
  },
);

describe('an integer of a query', () => {
  test.each([
    ['1', 1],
    ['50', 50],
    ['0050', 50],
    ['500', 500],
    ['0000000000000500', 500],
  ])('%j is read as %d', (limit, number) => {
    expect(validInstance(PageQuery, { limit }, 'strict')).toEqual({ limit: number });
  });

  test.each<unknown>([
    '',
    ' ',
    '1 ',
    ' 1',
    '+1',
    '-1',
    '1.0',
    '1.',
    '.5',
    '1e2',
    '0x10',
    '1n',
    '1_0',
    '١',
    'NaN',
    'Infinity',
    '0',
    '501',
    '9007199254740993',
    '00000000000000050',
    'null',
    'true',
    ['1'],
    ['1', '2'],
    { a: '1' },
    null,
    true,
  ])('%j is refused', (limit) => {
    expect(() => validInstance(PageQuery, { limit }, 'strict')).toThrow(/^limit must/);
  });
});

test('a class without @Transform converts nothing', () => {
  class Amount {
    @IsInt()
    amountMinor: number;
  }
  expect(() => validInstance(Amount, { amountMinor: '1' }, 'strict')).toThrow(
    'amountMinor must be an integer',
  );
});

test.each([
  ['repeated', ['a', 'b', 'a'], 'playerRefs[2] must not repeat an earlier one'],
  ['wrong', ['a', 'b c'], 'playerRefs[1] must be 1 to 128 printable ASCII characters without spaces'],
])('a list with a %s entry is refused with the place of the entry', (_, playerRefs, message) => {
  const [example] = ACCEPTED.get(OperatorBatchRequest)!;
  expect(() => validInstance(OperatorBatchRequest, { ...example, playerRefs }, 'strict')).toThrow(message);
});
