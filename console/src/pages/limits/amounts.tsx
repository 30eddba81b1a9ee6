import { moneyText } from '../../parts/money.tsx';
import { limits as words } from '../../strings.ts';

/** The limits of an operator and currency, in the order in which they are shown. */
export const LIMITS = [
  'maxGrantMinor',
  'maxBatchMinor',
  'maxAdjustmentMinor',
  'dailyMinor',
  'maxWinMinor',
] as const;

interface AmountsProps {
  readonly sentence: string;
  readonly amounts: Partial<Record<(typeof LIMITS)[number], number | null>>;
  readonly currency: string;
}

/** The sentence of a dialog about limits, with each limit that it sets or removes. */
export function Amounts({ sentence, amounts, currency }: AmountsProps) {
  return (
    <span class="changes">
      <span>{sentence}</span>
      {LIMITS.map((name) => {
        const minor = amounts[name];
        return (
          minor != null && (
            <span key={name}>{words.amount(words.nameOf[name], moneyText(minor, currency))}</span>
          )
        );
      })}
    </span>
  );
}
