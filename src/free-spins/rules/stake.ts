/** The terms from which a stake is computed: spins × betAmountMinor for each player. */
export interface Spins {
  readonly spins: number;
  readonly betAmountMinor: number;
}

/**
 * The stake in minor units; undefined above 2^53−1, because a number above it may be inexact. Contract, section 9.
 */
export function stakeMinorOf({ spins, betAmountMinor }: Spins, players = 1): number | undefined {
  const stakeMinor = spins * betAmountMinor * players;
  return Number.isSafeInteger(stakeMinor) ? stakeMinor : undefined;
}
