import { Injectable } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';
import { Database } from './database.js';
import { GroupCommit } from './group-commit.js';
import { secondsOfPartitionsAhead } from './partitions.js';

@Injectable()
export class DatabaseGauges {
  constructor(metrics: Metrics, database: Database, groupCommit: GroupCommit) {
    const levels = () => [
      { pool: 'requests', ...database.connections() },
      { pool: 'group-commit', ...groupCommit.connections() },
    ];
    metrics.addGauge({
      name: 'croupier_database_connections',
      help: 'Connections to the database, by pool and state',
      labelNames: ['pool', 'state'],
      read: async () =>
        levels().flatMap(({ pool, idle, busy }) => [
          { labels: { pool, state: 'idle' }, value: idle },
          { labels: { pool, state: 'busy' }, value: busy },
        ]),
    });
    metrics.addGauge({
      name: 'croupier_database_connections_limit',
      help: 'Connections that a pool may open',
      labelNames: ['pool'],
      read: async () => levels().map(({ pool, limit }) => ({ labels: { pool }, value: limit })),
    });
    metrics.addGauge({
      name: 'croupier_database_connection_waiters',
      help: 'Statements and transactions that wait for a connection, by pool',
      labelNames: ['pool'],
      read: async () => levels().map(({ pool, waiting }) => ({ labels: { pool }, value: waiting })),
    });
    metrics.addGauge({
      name: 'croupier_database_partitions_ahead_seconds',
      help: 'Time until a partitioned table has no partition for its new rows; negative if it has none now',
      read: async () => [{ value: await secondsOfPartitionsAhead(database) }],
    });
  }
}
