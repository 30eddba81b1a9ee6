import { Injectable, Logger } from '@nestjs/common';
import { type Cause, subjectOf } from './attention.js';
import { AttentionStore } from './attention.store.js';
import { openRounds, type TenantPair } from './causes.js';
import { type CountedRounds, OpenRoundsStore } from './open-rounds.store.js';

/** Minimum time between the end of a count and the next one, over all instances, in seconds. */
const COUNT_SECONDS = 3_600;
/**
 * Time after which a count that makes no progress is repeated, over all instances, in seconds: its instance has stopped
 * or died, or the database has failed. It is much longer than the count of one pair may take.
 */
const REPEAT_SECONDS = 600;
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
  private readonly logger = new Logger('Attention');

  constructor(
    private readonly items: AttentionStore,
    private readonly rounds: OpenRoundsStore,
  ) {}

  /**
   * Counts the open rounds, unless an instance has done so within the last hour. The item of a pair whose count fails
   * stays as it is until the next count; whether its provider closes its rounds is then judged by the other pairs.
   * @param mustStop called before each pair is counted; if it returns true, no item changes
   */
  async run(mustStop: () => boolean): Promise<void> {
    if (!(await this.items.isScanDue('rounds', COUNT_SECONDS))) return;
    if (!(await this.items.claimScan('rounds-begun', REPEAT_SECONDS))) return;
    const counted: (TenantPair & CountedRounds)[] = [];
    const unknown: string[] = [];
    for (const pair of await this.rounds.tradingPairs()) {
      if (mustStop()) return;
      await this.items.recordScan('rounds-begun');
      const rounds = await this.count(pair);
      if (rounds) counted.push({ ...pair, ...rounds });
      else unknown.push(subjectOf(pair.providerId, pair.operatorId));
    }
    const causes = causesIn(counted);
    await this.items.endOtherRounds([...causes.map(({ subject }) => subject), ...unknown]);
    await this.items.open(causes);
    for (const cause of causes) await this.items.countAgain(cause);
    await this.items.recordScan('rounds');
  }

  /** @returns undefined if the statement fails, for example because it takes too long */
  private async count(pair: TenantPair): Promise<CountedRounds | undefined> {
    try {
      return await this.rounds.count(pair, TRANSACTIONS_PER_PAIR);
    } catch (error) {
      const detail = (error as Error).message;
      this.logger.error({
        msg: 'the open rounds of an operator and a provider were not counted',
        ...pair,
        detail,
      });
      return undefined;
    }
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
