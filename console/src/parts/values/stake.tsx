import { freeSpins as words } from '../../strings.ts';
import { moneyText } from './money.tsx';

/** A stake of 0 stands for the provider's default, which only the provider knows: it is no amount. */
export const isKnownStake = (stakeMinor: number | bigint) => Number(stakeMinor) !== 0;

/**
 * The stake of a grant or batch in a sentence.
 * @param unknown the text for a stake that is not known
 */
export function stakeText(
  stakeMinor: number | bigint,
  currency: string,
  unknown: string = words.unknownStake,
): string {
  return isKnownStake(stakeMinor) ? moneyText(stakeMinor, currency) : unknown;
}

/** The value of the spins that a cancel ends, in a sentence: some of them may have been played. */
export function cancelledText(spins: number, betAmountMinor: number, currency: string): string {
  if (betAmountMinor === 0) return words.unknownStake;
  return words.atMost(moneyText(BigInt(spins) * BigInt(betAmountMinor), currency));
}

interface StakeProps {
  readonly minor: number | undefined;
  readonly currency: string;
}

/** The stake of a grant or batch; nothing if there is none. */
export function Stake({ minor, currency }: StakeProps) {
  if (minor === undefined) return null;
  return <span class="money">{stakeText(minor, currency, words.unknownAmount)}</span>;
}
