import { exponentOf } from './currencies.js';

/** An amount in major units, such as `2.50` for 250 minor units of EUR; undefined for an unknown currency. */
export function majorUnits(amountMinor: number | bigint, currency: string): string | undefined {
  const exponent = exponentOf(currency);
  if (exponent === undefined) return undefined;
  const digits = String(amountMinor < 0 ? -amountMinor : amountMinor).padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  const fraction = exponent === 0 ? '' : `.${digits.slice(-exponent)}`;
  return `${amountMinor < 0 ? '-' : ''}${whole}${fraction}`;
}

/**
 * An amount as people read it: `2.50 EUR`, `250 JPY`, `0.250 KWD`; `250 minor units of ZZZ` if the currency is unknown.
 * Contract, section 9.
 */
export function money(amountMinor: number | bigint, currency: string): string {
  const amount = majorUnits(amountMinor, currency);
  if (amount !== undefined) return `${amount} ${currency}`;
  return `${amountMinor} minor ${String(amountMinor) === '1' ? 'unit' : 'units'} of ${currency}`;
}

/** A sum as an optional field: absent outside ±(2^53−1), because JavaScript numbers are exact only in this range. */
export function exactSum<Name extends string>(name: Name, sum: bigint): { [name in Name]?: number } {
  const minor = Number(sum);
  return (Number.isSafeInteger(minor) ? { [name]: minor } : {}) as { [name in Name]?: number };
}

/**
 * The amount of a transaction as people read it. A ROLLBACK without an amount is stored with 0 and reverses the amount
 * of its BET.
 */
export function transactionMoney(kind: string | null, amountMinor: number, currency: string): string {
  return kind === 'ROLLBACK' && amountMinor === 0 ? "the BET's amount" : money(amountMinor, currency);
}
