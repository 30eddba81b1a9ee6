/** The limits of an operator and currency, in the order in which they are shown. */
export const LIMITS = [
  'maxGrantMinor',
  'maxBatchMinor',
  'maxAdjustmentMinor',
  'dailyMinor',
  'maxWinMinor',
] as const;
