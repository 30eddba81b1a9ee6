import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';
import type { PoolLevels } from './connection.js';
import { Database } from './database.js';
import { GroupCommit } from './group-commit.js';

@Injectable()
export class PoolGauges implements OnModuleInit {
  private readonly pools: Readonly<Record<string, () => PoolLevels>>;

  constructor(
    private readonly metrics: Metrics,
    database: Database,
    groupCommit: GroupCommit,
  ) {
    this.pools = { requests: () => database.connections(), 'group-commit': () => groupCommit.connections() };
  }

  onModuleInit(): void {
    this.metrics.addGauge({
      name: 'croupier_database_connections',
      help: 'Connections to the database, by pool and state',
      labelNames: ['pool', 'state'],
      read: async () =>
        this.levels().flatMap(([pool, { idle, busy }]) => [
          { labels: { pool, state: 'idle' }, value: idle },
          { labels: { pool, state: 'busy' }, value: busy },
        ]),
    });
    this.metrics.addGauge({
      name: 'croupier_database_connections_limit',
      help: 'Connections that a pool may open',
      labelNames: ['pool'],
      read: async () => this.levels().map(([pool, { limit }]) => ({ labels: { pool }, value: limit })),
    });
    this.metrics.addGauge({
      name: 'croupier_database_connection_waiters',
      help: 'Statements and transactions that wait for a connection, by pool',
      labelNames: ['pool'],
      read: async () => this.levels().map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
    });
  }

  private levels(): [string, PoolLevels][] {
    return Object.entries(this.pools).map(([pool, read]) => [pool, read()]);
  }
}
