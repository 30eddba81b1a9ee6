import { exponentOf } from '../../../src/money/currencies.ts';
import { LOCALE, money as words } from '../strings.ts';

/** An amount as people read it, such as `1,250.00 EUR`; exact for every integer of the API. */
export function moneyText(amountMinor: number | bigint, currency: string): string {
  const exponent = exponentOf(currency);
  if (exponent === undefined) return words.minorUnits(String(amountMinor), currency);
  const digits = String(amountMinor < 0 ? -amountMinor : amountMinor).padStart(exponent + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - exponent)).toLocaleString(LOCALE);
  const fraction = exponent === 0 ? '' : DECIMAL_POINT + digits.slice(-exponent);
  return `${amountMinor < 0 ? '-' : ''}${whole}${fraction} ${currency}`;
}

const DECIMAL_POINT =
  new Intl.NumberFormat(LOCALE).formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';

/**
 * The minor units of an amount that a person has typed, such as 250 for `2.5` or `2.50` in EUR; undefined if it is not an
 * amount above zero that the currency and the API can hold.
 */
export function minorUnitsOf(text: string, currency: string): number | undefined {
  const exponent = exponentOf(currency) ?? 0;
  const [, whole, fraction = ''] = /^(\d{1,16})(?:\.(\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || fraction.length > exponent) return undefined;
  const minor = Number(whole + fraction.padEnd(exponent, '0'));
  return minor > 0 && Number.isSafeInteger(minor) ? minor : undefined;
}

interface MoneyProps {
  readonly minor: number | null | undefined;
  readonly currency: string;
}

/** An amount; nothing if there is none. */
export function Money({ minor, currency }: MoneyProps) {
  return minor == null ? null : <span class="money">{moneyText(minor, currency)}</span>;
}
