import { Injectable } from '@nestjs/common';
import type { Cause } from './attention.js';
import { AttentionStore } from './attention.store.js';
import { CauseStore, type CountedRounds } from './cause.store.js';
import { openRounds, type TenantPair } from './causes.js';

/** Minimum time between two counts, over all instances, in seconds. */
const COUNT_SECONDS = 3_600;
/** Maximum number of transactions of an operator and a provider that a count reads, newest first. Bounds its cost. */
const TRANSACTIONS_PER_PAIR = 20_000;
/**
 * Minimum share of last week's rounds that a provider must have closed, in percent. Below this share, the provider does
 * not report when rounds end, so its open rounds need no attention.
 */
const CLOSED_PERCENT = 90;

/**
 * Maintains one item for the open rounds of each pair of an operator and a provider. Contract, section 9, "Attention".
 * Counts the rounds once an hour, among the newest 20,000 transactions of the pair that are older than a day.
 */
@Injectable()
export class OpenRoundsWatch {
  constructor(
    private readonly items: AttentionStore,
    private readonly causes: CauseStore,
  ) {}

  /**
   * Counts the open rounds, unless an instance began a count within the last hour.
   * @param mustStop called before each pair is counted; if it returns true, no item changes
   */
  async run(mustStop: () => boolean): Promise<void> {
    if (!(await this.items.claimScan('rounds', COUNT_SECONDS))) return;
    const counted: (TenantPair & CountedRounds)[] = [];
    for (const pair of await this.causes.tradingPairs()) {
      if (mustStop()) return;
      counted.push({ ...pair, ...(await this.causes.rounds(pair, TRANSACTIONS_PER_PAIR)) });
    }
    const causes = causesIn(counted);
    await this.items.endOtherRounds(causes.map(({ subject }) => subject));
    await this.items.open(causes);
    for (const cause of causes) await this.items.countAgain(cause);
  }
}

function causesIn(counted: readonly (TenantPair & CountedRounds)[]): Cause[] {
  const totals = new Map<string, { rounds: number; open: number }>();
  for (const { providerId, ofLastWeek, openOfLastWeek } of counted) {
    const total = totals.get(providerId) ?? { rounds: 0, open: 0 };
    totals.set(providerId, { rounds: total.rounds + ofLastWeek, open: total.open + openOfLastWeek });
  }
  return counted
    .filter(({ open, providerId }) => {
      const total = totals.get(providerId)!;
      return open > 0 && (total.rounds - total.open) * 100 >= total.rounds * CLOSED_PERCENT;
    })
    .map((pair) => openRounds(pair, pair.open, pair.partial));
}
