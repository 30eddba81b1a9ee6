import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Metrics } from '../../observability/metrics.js';
import { GrantStore } from './grant.store.js';

/** Reports the number of PENDING grants: those not sent yet, and those without a recorded outcome. */
@Injectable()
export class PendingGrantsGauge implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly grants: GrantStore,
  ) {}

  onModuleInit(): void {
    this.metrics.addGauge({
      name: 'croupier_free_spin_grants_pending',
      help: 'Grants of free spins that are not sent yet, or whose outcome is not recorded yet; all instances report the same value',
      labelNames: ['operator', 'provider'],
      read: () => this.grants.pending(),
    });
  }
}
