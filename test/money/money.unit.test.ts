import { describe, expect, test } from 'vitest';
import { exponentOf } from '../../src/money/currencies.js';
import { majorUnits, money } from '../../src/money/money.js';

describe('an amount is shown as money', () => {
  test.each([
    [250, 'EUR', '2.50 EUR'],
    [5, 'EUR', '0.05 EUR'],
    [0, 'EUR', '0.00 EUR'],
    [-250, 'EUR', '-2.50 EUR'],
    [-5, 'EUR', '-0.05 EUR'],
    [250, 'JPY', '250 JPY'],
    [250, 'KWD', '0.250 KWD'],
    [123456, 'KWD', '123.456 KWD'],
    [250, 'CLF', '0.0250 CLF'],
    [100, 'HUF', '1.00 HUF'],
    [Number.MAX_SAFE_INTEGER, 'EUR', '90071992547409.91 EUR'],
    [9_007_199_254_740_993_000n, 'USD', '90071992547409930.00 USD'],
    [250, 'XAD', '2.50 XAD'],
    [250, 'HRK', '2.50 HRK'],
    [250, 'SLL', '2.50 SLL'],
    [250, 'ZWL', '2.50 ZWL'],
    [250, 'ZZZ', '250 minor units of ZZZ'],
    [1, 'ZZZ', '1 minor unit of ZZZ'],
    [1n, 'ZZZ', '1 minor unit of ZZZ'],
    [-250, 'XAU', '-250 minor units of XAU'],
  ])('%s %s: %s', (amountMinor, currency, text) => {
    expect(money(amountMinor, currency)).toBe(text);
  });

  test('an unknown currency has no amount in major units', () => {
    expect([majorUnits(250, 'ZZZ'), exponentOf('ZZZ')]).toEqual([undefined, undefined]);
  });
});
