import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from '../observability/metrics.js';
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
        this.set({ state: 'PENDING' }, 0);
        this.set({ state: 'TIMED_OUT' }, 0);
        for (const { state, count } of await undecided.count()) this.inc({ state }, count);
      },
    });
    new Gauge({
      name: 'croupier_transactions_parked',
      help: 'Those of the undecided that the resolver has left to a person',
      registers: [this.metrics.registry],
      async collect() {
        this.set(0);
        for (const { parked, count } of await undecided.count()) if (parked) this.inc(count);
      },
    });
  }
}
