import { expect, test } from 'vitest';
import { moneyText, transactionMoney } from './money.tsx';

test.each([
  { amountMinor: 250, currency: 'EUR', text: '2.50 EUR' },
  { amountMinor: 0, currency: 'EUR', text: '0.00 EUR' },
  { amountMinor: 5, currency: 'EUR', text: '0.05 EUR' },
  { amountMinor: 123_456_789, currency: 'EUR', text: '1,234,567.89 EUR' },
  { amountMinor: -250, currency: 'EUR', text: '-2.50 EUR' },
  { amountMinor: 1_250, currency: 'JPY', text: '1,250 JPY' },
  { amountMinor: 250, currency: 'KWD', text: '0.250 KWD' },
  { amountMinor: 12_345, currency: 'CLF', text: '1.2345 CLF' },
  { amountMinor: Number.MAX_SAFE_INTEGER, currency: 'EUR', text: '90,071,992,547,409.91 EUR' },
  { amountMinor: 12_345_678_901_234_567_890n, currency: 'EUR', text: '123,456,789,012,345,678.90 EUR' },
  { amountMinor: 250, currency: 'ZZZ', text: '250 minor units of ZZZ' },
  { amountMinor: 1, currency: 'ZZZ', text: '1 minor unit of ZZZ' },
])('$amountMinor minor units of $currency are $text', ({ amountMinor, currency, text }) => {
  expect(moneyText(amountMinor, currency)).toBe(text);
});

test.each([
  { kind: 'BET', amountMinor: 250, text: '2.50 EUR' },
  { kind: 'ADJUSTMENT', amountMinor: -250, text: '-2.50 EUR' },
  { kind: 'ROLLBACK', amountMinor: 250, text: '2.50 EUR' },
  { kind: 'ROLLBACK', amountMinor: 0, text: "the BET's amount" },
  { kind: 'WIN', amountMinor: 0, text: '0.00 EUR' },
  { kind: undefined, amountMinor: 0, text: '0.00 EUR' },
])('the amount of a $kind of $amountMinor is $text', ({ kind, amountMinor, text }) => {
  expect(transactionMoney(kind, amountMinor, 'EUR')).toBe(text);
});
