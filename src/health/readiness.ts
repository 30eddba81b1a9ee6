import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Database } from '../database/database.js';
import { monotonicMs } from '../runtime/clock.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { RedisConnection } from '../runtime/redis.js';
import { atMostEvery } from '../observability/at-most-every.js';
import { Metrics } from '../observability/metrics.js';

/**
 * Callers within this time, in milliseconds, share one check, so that the load on the database does not depend on their
 * number.
 */
const CHECK_EVERY_MS = 1_000;
/**
 * How long a check waits for the database, in milliseconds. After three seconds, the chart's probe gives up, and the
 * gauges have no value, for which no alert fires. Redis needs no such limit: a check sends it at most two commands, which
 * time out after a second each.
 */
const DATABASE_LIMIT_MS = 2_000;
const NO_ANSWER = { answer: false, seconds: undefined, migrated: false };

const CHECK_STATES = ['up', 'down'] as const;
type State = (typeof CHECK_STATES)[number];

class ReadinessChecks {
  @ApiProperty({ enum: CHECK_STATES })
  readonly database: State;

  @ApiProperty({
    enum: [...CHECK_STATES, 'unknown'],
    description: '`down`: a migration is pending; `unknown` while the database is down',
  })
  readonly migrations: State | 'unknown';

  @ApiProperty({ enum: CHECK_STATES, required: false, description: 'present if `REDIS_URL` is set' })
  readonly redis?: State;

  @ApiProperty({
    enum: CHECK_STATES,
    description: '`down`: the tenants could not be read for 30 seconds, so signed requests are refused',
  })
  readonly tenants: State;

  @ApiProperty({
    type: [String],
    required: false,
    example: ['default_transaction_isolation'],
    description:
      'present in a 503: the settings of PostgreSQL that have another value on new connections than the service states',
  })
  readonly settings?: readonly string[];
}

export class ReadinessResponse {
  @ApiProperty({ enum: ['ok', 'unavailable', 'stopping'] })
  readonly status: 'ok' | 'unavailable' | 'stopping';

  @ApiProperty()
  readonly checks: ReadinessChecks;
}

/** Whether this instance can serve requests. Contract, section 10. */
@Injectable()
export class Readiness implements OnModuleInit {
  private readonly check = atMostEvery(CHECK_EVERY_MS, () => this.checkNow());
  /** Checks share a ping that has no answer yet, so that each of them does not occupy a further connection. */
  private readonly pingDatabase = atMostEvery(0, () => this.pingDatabaseNow());
  private tenantsAreFresh = () => false;

  constructor(
    private readonly database: Database,
    private readonly redis: RedisConnection,
    private readonly lifecycle: Lifecycle,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.addGauge('croupier_ready', 'Whether the instance is ready: 1 or 0', async () =>
      Number((await this.read()).status === 'ok'),
    );
    this.addGauge('croupier_database_up', 'Whether the database answers: 1 or 0', async () =>
      Number((await this.check()).checks.database === 'up'),
    );
    this.addGauge(
      'croupier_database_ping_seconds',
      'Time in which the database answered SELECT 1, including the wait for a connection',
      async () => (await this.check()).pings.database,
    );
    this.addGauge(
      'croupier_redis_up',
      'Whether Redis accepts writes: 1 or 0; no value without REDIS_URL',
      async () => {
        const { redis } = (await this.check()).checks;
        return redis && Number(redis === 'up');
      },
    );
    this.addGauge(
      'croupier_redis_ping_seconds',
      'Time of a small write to Redis; no value without REDIS_URL',
      async () => (await this.check()).pings.redis,
    );
  }

  /** Registers whether signed requests can be judged by the tenants, which a room above keeps. */
  checkTenants(areFresh: () => boolean): void {
    this.tenantsAreFresh = areFresh;
  }

  async read(): Promise<ReadinessResponse> {
    const { checks } = await this.check();
    if (this.lifecycle.stopping) return { status: 'stopping', checks };
    const ok = Object.values(checks).every((state) => state === 'up');
    return { status: ok ? 'ok' : 'unavailable', checks };
  }

  private addGauge(name: string, help: string, read: () => Promise<number | undefined>): void {
    this.metrics.addGauge({
      name,
      help,
      read: async () => {
        const value = await read();
        return value === undefined ? [] : [{ value }];
      },
    });
  }

  /** `pings` has the response times of the database and Redis, in seconds; undefined without an answer. */
  private async checkNow() {
    const [database, redis] = await Promise.all([
      Promise.race([this.pingDatabase(), sleep(DATABASE_LIMIT_MS, NO_ANSWER, { ref: false })]),
      measurePing(() => this.redis.acceptsWrites()),
    ]);
    const settings = this.database.refusedSettings.current().map(({ name }) => name);
    const checks: ReadinessChecks = {
      database: stateOf(database.answer),
      migrations: database.answer ? stateOf(database.migrated) : 'unknown',
      ...(redis.answer !== undefined && { redis: stateOf(redis.answer) }),
      tenants: stateOf(this.tenantsAreFresh()),
      ...(settings.length > 0 && { settings }),
    };
    return { checks, pings: { database: database.seconds, redis: redis.seconds } };
  }

  private async pingDatabaseNow() {
    const startedMs = monotonicMs();
    const ping = await measurePing(() => this.database.answers());
    const migrated = ping.answer && (await this.database.isMigrated());
    // A check that began with the ping has reported the database as down; one that joined it later must agree.
    return monotonicMs() - startedMs > DATABASE_LIMIT_MS ? NO_ANSWER : { ...ping, migrated };
  }
}

/** @returns the result of a check, and its duration in seconds if the result is true */
async function measurePing<T>(check: () => Promise<T>): Promise<{ answer: T; seconds: number | undefined }> {
  const startedMs = monotonicMs();
  const answer = await check();
  return { answer, seconds: answer ? (monotonicMs() - startedMs) / 1000 : undefined };
}

function stateOf(healthy: boolean): State {
  return healthy ? 'up' : 'down';
}
