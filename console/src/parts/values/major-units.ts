import { exponentOf } from '../../../../src/money/currencies.ts';

/** Whether a text has the form of a currency's code. */
export const isCurrency = (text: string) => /^[A-Z]{3}$/.test(text);

/** Thousands may be grouped as in `1,250.00`. A comma elsewhere is refused: `2,50` must not become 250. */
const AMOUNT = /^(\d{1,16}|\d{1,3}(?:,\d{3}){1,5})(?:\.(\d{1,4}))?$/;

/** An amount as a field shows it, such as `2.50` for 250 minor units of EUR; in an unknown currency, minor units. */
export function majorUnits(amountMinor: number, currency: string): string {
  const exponent = exponentOf(currency) ?? 0;
  const digits = String(amountMinor).padStart(exponent + 1, '0');
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/** The minor units of what a person typed; undefined if it is not an amount of the currency. */
export function minorUnits(text: string, currency: string): number | undefined {
  const exponent = exponentOf(currency) ?? 0;
  const [, whole, fraction = ''] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > exponent) return undefined;
  // With three decimals, `2,500` may be meant as 2.500; a decimal point tells that the comma groups thousands.
  if (exponent === 3 && whole.includes(',') && fraction === '') return undefined;
  const amountMinor = Number(whole.replaceAll(',', '') + fraction.padEnd(exponent, '0'));
  return Number.isSafeInteger(amountMinor) ? amountMinor : undefined;
}

/** Like `minorUnits`, for what may be negative: balances, and the amounts of adjustments. */
export function signedMinorUnits(text: string, currency: string): number | undefined {
  const trimmed = text.trim();
  const size = minorUnits(trimmed.replace(/^-/, ''), currency);
  return size !== undefined && trimmed.startsWith('-') ? -size : size;
}
