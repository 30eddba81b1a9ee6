import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from '../observability/metrics.js';
import { TransactionStore } from './transaction.store.js';

/** Tells monitoring how many transactions wait for a decision, by state. */
@Injectable()
export class UndecidedGauge implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly transactions: TransactionStore,
  ) {}

  onModuleInit(): void {
    const { transactions } = this;
    new Gauge({
      name: 'croupier_transactions_undecided',
      help: 'Transactions that wait for a decision, by state',
      labelNames: ['state'],
      registers: [this.metrics.registry],
      async collect() {
        this.reset();
        // While the database is away the other metrics are needed all the more.
        const counts = await transactions.countUndecided().catch(() => undefined);
        if (!counts) return;
        this.set({ state: 'PENDING' }, 0);
        this.set({ state: 'TIMED_OUT' }, 0);
        for (const { state, count } of counts) this.set({ state }, count);
      },
    });
  }
}
