import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { amount as words } from '../../strings.ts';
import { minorUnits, signedMinorUnits } from '../values/major-units.ts';
import { InputField } from './form-field.tsx';

interface AmountFieldProps {
  readonly label: string;
  /** What was typed. */
  readonly text: Signal<string>;
  readonly currency: string;
  readonly required?: boolean;
  readonly hint?: string;
  /** Whether the amount may be negative. */
  readonly signed?: boolean;
  /** In minor units; 0 by default, unless it is signed. */
  readonly minimum?: number;
}

/** A field for an amount in major units; the form is not submitted while it is not an amount of the currency. */
export function AmountField(props: AmountFieldProps) {
  const { label, text, currency, required, hint, signed = false, minimum = signed ? -Infinity : 0 } = props;
  const field = useRef<HTMLInputElement>(null);
  const typed = text.value;
  useEffect(() => {
    const amountMinor = (signed ? signedMinorUnits : minorUnits)(typed, currency);
    const valid = amountMinor === undefined ? typed === '' : amountMinor >= minimum;
    field.current?.setCustomValidity(valid ? '' : words.invalid(currency));
  }, [typed, currency, signed, minimum]);
  return (
    <InputField
      ref={field}
      label={label}
      hint={hint}
      // The decimal keypad of a phone may have no minus sign.
      inputMode={signed ? 'text' : 'decimal'}
      value={typed}
      required={required}
      onInput={({ currentTarget }) => (text.value = currentTarget.value)}
    />
  );
}
