import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from '../../observability/metrics.js';
import { UndecidedStore } from './undecided.store.js';

/** Tells monitoring how many transactions wait for a decision, by state, and how many of them for a person. */
@Injectable()
export class UndecidedGauge implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly undecided: UndecidedStore,
  ) {}

  onModuleInit(): void {
    const { undecided } = this;
    new Gauge({
      name: 'croupier_transactions_undecided',
      help: 'Transactions that wait for a decision, by state',
      labelNames: ['state'],
      registers: [this.metrics.registry],
      async collect() {
        this.reset();
        // While the database is away the other metrics are needed all the more.
        const counts = await undecided.count().catch(() => undefined);
        if (!counts) return;
        this.set({ state: 'PENDING' }, 0);
        this.set({ state: 'TIMED_OUT' }, 0);
        for (const { state, count } of counts) this.inc({ state }, count);
      },
    });
    new Gauge({
      name: 'croupier_transactions_parked',
      help: 'Those of the undecided that the resolver has left to a person',
      registers: [this.metrics.registry],
      async collect() {
        this.reset();
        const counts = await undecided.count().catch(() => undefined);
        const parked = counts?.filter((each) => each.parked).map(({ count }) => count);
        this.set(parked ? parked.reduce((sum, count) => sum + count, 0) : NaN);
      },
    });
  }
}
