import { expect, test } from 'vitest';
import { majorUnits, minorUnits, signedMinorUnits } from './major-units.ts';

test.each([
  { text: '2.50', currency: 'EUR', amountMinor: 250 },
  { text: '2.5', currency: 'EUR', amountMinor: 250 },
  { text: '1,250.00', currency: 'EUR', amountMinor: 125_000 },
  { text: ' 1,250.5 ', currency: 'EUR', amountMinor: 125_050 },
  { text: '0', currency: 'EUR', amountMinor: 0 },
  { text: '1250', currency: 'JPY', amountMinor: 1_250 },
  { text: '0.250', currency: 'KWD', amountMinor: 250 },
  { text: '2,500', currency: 'KWD', amountMinor: undefined },
  { text: '1,250.000', currency: 'KWD', amountMinor: 1_250_000 },
  { text: '1,250.5', currency: 'KWD', amountMinor: 1_250_500 },
  { text: '2,500.', currency: 'KWD', amountMinor: undefined },
  { text: '250', currency: 'ZZZ', amountMinor: 250 },
  { text: '90071992547409.91', currency: 'EUR', amountMinor: Number.MAX_SAFE_INTEGER },
  { text: '90071992547409.92', currency: 'EUR', amountMinor: undefined },
  { text: '90,071,992,547,409.92', currency: 'EUR', amountMinor: undefined },
  { text: '9007199254740992', currency: 'JPY', amountMinor: undefined },
  { text: '0.01', currency: 'EUR', amountMinor: 1 },
  { text: '2', currency: 'EUR', amountMinor: 200 },
  { text: '2,50', currency: 'EUR', amountMinor: undefined },
  { text: '2.505', currency: 'EUR', amountMinor: undefined },
  { text: '2.5', currency: 'JPY', amountMinor: undefined },
  { text: '-2.50', currency: 'EUR', amountMinor: undefined },
  { text: '', currency: 'EUR', amountMinor: undefined },
  { text: '2e3', currency: 'EUR', amountMinor: undefined },
])('"$text" $currency is $amountMinor in minor units', ({ text, currency, amountMinor }) => {
  expect(minorUnits(text, currency)).toBe(amountMinor);
});

test.each([
  { amountMinor: 5, currency: 'EUR', text: '0.05' },
  { amountMinor: 1_250, currency: 'JPY', text: '1250' },
  { amountMinor: 12_345, currency: 'CLF', text: '1.2345' },
])('a field shows $amountMinor minor units of $currency as $text', ({ amountMinor, currency, text }) => {
  expect(majorUnits(amountMinor, currency)).toBe(text);
  expect(minorUnits(text, currency)).toBe(amountMinor);
});

test.each([
  { text: '-5.00', amountMinor: -500 },
  { text: ' -1,250.5 ', amountMinor: -125_050 },
  { text: '5.00', amountMinor: 500 },
  { text: '--5.00', amountMinor: undefined },
  { text: '5.00-', amountMinor: undefined },
  { text: '-', amountMinor: undefined },
])('"$text" EUR is $amountMinor in minor units, where it may be negative', ({ text, amountMinor }) => {
  expect(signedMinorUnits(text, 'EUR')).toBe(amountMinor);
});
