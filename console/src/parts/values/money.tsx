import { exponentOf } from '../../../../src/money/currencies.ts';
import { LOCALE, money as words } from '../../strings.ts';

/** An amount as people read it, such as `1,250.00 EUR`; exact for every integer of the API. */
export function moneyText(amountMinor: number | bigint, currency: string): string {
  const exponent = exponentOf(currency);
  if (exponent === undefined) return words.minorUnits(String(amountMinor), currency);
  const digits = String(amountMinor < 0 ? -amountMinor : amountMinor).padStart(exponent + 1, '0');
  const whole = BigInt(digits.slice(0, digits.length - exponent)).toLocaleString(LOCALE);
  const fraction = exponent === 0 ? '' : DECIMAL_POINT + digits.slice(-exponent);
  return `${amountMinor < 0 ? '-' : ''}${whole}${fraction} ${currency}`;
}

/**
 * The amount of a transaction in the words of the service (src/money/money.ts): signed, and that of its BET for a
 * ROLLBACK without an amount, which is stored with 0.
 */
export function transactionMoney(kind: string | undefined, amountMinor: number, currency: string): string {
  return kind === 'ROLLBACK' && amountMinor === 0 ? words.ofItsBet : moneyText(amountMinor, currency);
}

const DECIMAL_POINT =
  new Intl.NumberFormat(LOCALE).formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';

interface MoneyProps {
  readonly minor: number | null | undefined;
  readonly currency: string;
}

/** An amount; nothing if there is none. */
export function Money({ minor, currency }: MoneyProps) {
  return minor == null ? null : <span class="money">{moneyText(minor, currency)}</span>;
}
