import { Injectable, type OnModuleInit } from '@nestjs/common';
import { atMostEvery } from '../../observability/at-most-every.js';
import { Metrics } from '../../observability/metrics.js';
import { type UndecidedCount, UndecidedStore } from './undecided.store.js';

/** Counts how many transactions are undecided, for how long, and how many wait for a person. */
@Injectable()
export class UndecidedCounts implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly undecided: UndecidedStore,
  ) {}

  /** The counts by operator, provider and state; parked transactions are counted separately. */
  read(): Promise<UndecidedCount[]> {
    return this.undecided.count();
  }

  onModuleInit(): void {
    // The gauges are read at the same time and share one statement.
    const counts = atMostEvery(0, () => this.undecided.count());
    this.metrics.addGauge({
      name: 'croupier_transactions_undecided',
      help: 'Transactions that wait for a decision, by state; all instances report the same value',
      labelNames: ['operator', 'provider', 'state'],
      read: async () =>
        (await counts()).map((each) => ({
          ...tenantsOf(each),
          labels: { state: each.state },
          value: each.count,
        })),
    });
    this.metrics.addGauge({
      name: 'croupier_transactions_undecided_oldest_seconds',
      help: 'Time since the oldest undecided transaction that is not parked was first claimed, without those with an undecided ROLLBACK; all instances report the same value',
      labelNames: ['operator', 'provider'],
      read: async () =>
        (await counts())
          // While the ROLLBACK of a BET is parked, only the ROLLBACK can be decided.
          .filter(({ parked, inRollback }) => !parked && !inRollback)
          .map((each) => ({ ...tenantsOf(each), value: each.oldestSeconds })),
      combine: Math.max,
    });
    this.metrics.addGauge({
      name: 'croupier_transactions_parked',
      help: 'Undecided transactions that the resolver has left to a person; all instances report the same value',
      labelNames: ['operator', 'provider'],
      read: async () =>
        (await counts())
          .filter(({ parked }) => parked)
          .map((each) => ({ ...tenantsOf(each), value: each.count })),
    });
  }
}

function tenantsOf({ operatorId, providerId }: UndecidedCount) {
  return { operator: operatorId, provider: providerId };
}
