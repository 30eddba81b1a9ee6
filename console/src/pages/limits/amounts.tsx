import { moneyText } from '../../parts/values/money.tsx';
import { edit, limits as words } from '../../strings.ts';

/** The limits of an operator and currency, in the order in which they are shown. */
export const LIMITS = [
  'maxGrantMinor',
  'maxBatchMinor',
  'maxAdjustmentMinor',
  'dailyMinor',
  'maxWinMinor',
] as const;

type AmountsOfLimits = Partial<Record<(typeof LIMITS)[number], number | null>>;

interface AmountsProps {
  readonly sentence: string;
  readonly amounts: AmountsOfLimits;
  readonly currency: string;
  /** The limits that are set already, to say what is replaced. */
  readonly before?: AmountsOfLimits | undefined;
}

/** The sentence of a dialog about limits, with each limit that it sets or removes. */
export function Amounts({ sentence, amounts, currency, before }: AmountsProps) {
  const text = (minor: number | null | undefined) => (minor == null ? edit.none : moneyText(minor, currency));
  return (
    <span class="changes">
      <span>{sentence}</span>
      {LIMITS.map((name) => {
        const minor = amounts[name];
        if (minor == null) return null;
        const term = words.nameOf[name];
        return (
          <span key={name}>
            {before ? edit.change(term, text(before[name]), text(minor)) : words.amount(term, text(minor))}
          </span>
        );
      })}
    </span>
  );
}
