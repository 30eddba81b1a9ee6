import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Database } from '../database/database.js';
import { Unsigned } from '../http/caller.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { RedisConnection } from '../runtime/redis.js';
import { atMostEvery } from './at-most-every.js';

/** Callers within this time share one check, so that no number of them loads the database; in milliseconds. */
const CHECK_EVERY_MS = 1_000;

class LivenessResponse {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
}

const STATES = ['up', 'down'] as const;
type State = (typeof STATES)[number];

class ReadinessChecks {
  @ApiProperty({ enum: STATES })
  database: State;

  @ApiProperty({
    enum: [...STATES, 'unknown'],
    description: '`down`: a migration is pending; `unknown` while the database is down',
  })
  migrations: State | 'unknown';

  @ApiProperty({ enum: STATES, required: false, description: 'present if `REDIS_URL` is set' })
  redis?: State;
}

class ReadinessResponse {
  @ApiProperty({ enum: ['ok', 'unavailable', 'stopping'] })
  status: 'ok' | 'unavailable' | 'stopping';

  @ApiProperty()
  checks: ReadinessChecks;
}

/** Health for orchestrators and load balancers. */
@ApiTags('Monitoring')
@Unsigned()
@Controller('health')
export class HealthController {
  private readonly checks = atMostEvery(CHECK_EVERY_MS, () => this.check());

  constructor(
    private readonly database: Database,
    private readonly redis: RedisConnection,
    private readonly lifecycle: Lifecycle,
  ) {}

  @Get('live')
  @ApiOperation({ summary: 'Whether the process is alive' })
  @ApiOkResponse({ type: LivenessResponse })
  live(): LivenessResponse {
    return { status: 'ok' };
  }

  @Get('ready')
  @ApiOperation({
    summary: 'Whether the service can work',
    description:
      'The database answers and is migrated, Redis answers if `REDIS_URL` is set, and no stop has been signalled.',
  })
  @ApiOkResponse({ type: ReadinessResponse })
  @ApiResponse({ status: HttpStatus.SERVICE_UNAVAILABLE, type: ReadinessResponse })
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessResponse> {
    const checks = await this.checks();
    const status = this.statusOf(checks);
    if (status !== 'ok') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return { status, checks };
  }

  private statusOf(checks: ReadinessChecks): ReadinessResponse['status'] {
    if (this.lifecycle.stopping) return 'stopping';
    return Object.values(checks).every((state) => state === 'up') ? 'ok' : 'unavailable';
  }

  private async check(): Promise<ReadinessChecks> {
    const [database, redis] = await Promise.all([this.database.answers(), this.redis.answers()]);
    return {
      database: stateOf(database),
      migrations: database ? stateOf(await this.database.isMigrated()) : 'unknown',
      ...(redis !== undefined && { redis: stateOf(redis) }),
    };
  }
}

function stateOf(healthy: boolean): State {
  return healthy ? 'up' : 'down';
}
