import { Injectable, Logger } from '@nestjs/common';
import { failureText } from '../runtime/failure-text.js';
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
   * stays as it is until the next count; whether its provider closes its rounds is then judged by the other pairs. If
   * the search for a provider's pairs fails, all its items stay.
   * @param mustStop called before each pair is counted; if it returns true, no further item changes
   */
  async run(mustStop: () => boolean): Promise<void> {
    if (!(await this.items.isScanDue('rounds', COUNT_SECONDS))) return;
    if (!(await this.items.claimScan('rounds-begun', REPEAT_SECONDS))) return;
    for (const providerId of await this.rounds.providers()) {
      await this.items.recordScan('rounds-begun');
      await this.runProvider(providerId, mustStop);
      if (mustStop()) return;
    }
    await this.items.recordScan('rounds');
  }

  private async runProvider(providerId: string, mustStop: () => boolean): Promise<void> {
    const counted: (TenantPair & CountedRounds)[] = [];
    const unknown: string[] = [];
    const pairs = await this.orUndefined({ providerId }, () => this.rounds.tradingPairs(providerId));
    if (!pairs) return;
    for (const pair of pairs) {
      if (mustStop()) return;
      await this.items.recordScan('rounds-begun');
      const rounds = await this.orUndefined(pair, () => this.rounds.count(pair, TRANSACTIONS_PER_PAIR));
      if (rounds) counted.push({ ...pair, ...rounds });
      else unknown.push(subjectOf(providerId, pair.operatorId));
    }
    const causes = causesIn(counted);
    await this.items.endOtherRounds(providerId, [...causes.map(({ subject }) => subject), ...unknown]);
    await this.items.open(causes);
    for (const cause of causes) await this.items.countAgain(cause);
  }

  /** @returns undefined if the statement fails, for example because it takes too long */
  private async orUndefined<T>(of: Partial<TenantPair>, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      const detail = failureText(error);
      this.logger.error({ msg: 'open rounds were not counted', ...of, detail });
      return undefined;
    }
  }
}

/** @param counted the pairs of one provider */
function causesIn(counted: readonly (TenantPair & CountedRounds)[]): Cause[] {
  const rounds = counted.reduce((sum, { ofLastWeek }) => sum + ofLastWeek, 0);
  const open = counted.reduce((sum, { openOfLastWeek }) => sum + openOfLastWeek, 0);
  if ((rounds - open) * 100 < rounds * CLOSED_PERCENT) return [];
  return counted.filter((pair) => pair.open > 0).map((pair) => openRounds(pair, pair.open, pair.partial));
}
