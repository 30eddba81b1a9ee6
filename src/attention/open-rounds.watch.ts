import { Injectable } from '@nestjs/common';
import type { Cause } from './attention.js';
import { AttentionStore } from './attention.store.js';
import { CauseStore } from './cause.store.js';
import { openRounds, type Pair } from './causes.js';

/** How often open rounds are counted, in seconds; of all instances one does it. */
const COUNT_SECONDS = 3_600;
/** Transactions of one operator and provider that are looked at, the newest: the bound of what a count costs. */
const TRANSACTIONS_PER_PAIR = 5_000;
/** A provider that closes fewer of its rounds, in percent, does not report their end: open rounds of it say nothing. */
const CLOSED_PERCENT = 90;

/**
 * Keeps one item for the open rounds of each operator and provider. Contract, section 9, "Attention". Counted once an hour,
 * among the newest transactions of a week: where a pair has more than 5,000, the count is that of their rounds.
 */
@Injectable()
export class OpenRoundsWatch {
  constructor(
    private readonly items: AttentionStore,
    private readonly causes: CauseStore,
  ) {}

  /** Counts, if an hour has passed since the last count. @param mustStop asked between two pairs */
  async run(mustStop: () => boolean): Promise<void> {
    if (!(await this.items.claimScan('rounds', COUNT_SECONDS))) return;
    const counted: (Pair & { rounds: number; open: number })[] = [];
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

/** Open rounds of the providers that close most of theirs. */
function causesIn(counted: readonly (Pair & { rounds: number; open: number })[]): Cause[] {
  const totals = new Map<string, { rounds: number; open: number }>();
  for (const { providerId, rounds, open } of counted) {
    const total = totals.get(providerId) ?? { rounds: 0, open: 0 };
    totals.set(providerId, { rounds: total.rounds + rounds, open: total.open + open });
  }
  return counted
    .filter(({ open, providerId }) => {
      const total = totals.get(providerId)!;
      return open > 0 && (total.rounds - total.open) * 100 >= total.rounds * CLOSED_PERCENT;
    })
    .map((pair) => openRounds(pair, pair.open));
}
