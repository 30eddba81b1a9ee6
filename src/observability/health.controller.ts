import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { Database } from '../database/database.js';
import { Unsigned } from '../http/caller.js';
import { atMostEvery } from './at-most-every.js';

/** Callers within this time share one check, so that no number of them loads the database; in milliseconds. */
const CHECK_EVERY_MS = 1_000;

@ApiTags('Monitoring')
@Unsigned()
@Controller('health')
export class HealthController {
  private readonly check = atMostEvery(CHECK_EVERY_MS, () =>
    this.health.check([
      () => this.indicate('database', this.database.answers(), 'the database does not answer'),
      () => this.indicate('migrations', this.database.isMigrated(), 'a migration is pending'),
    ]),
  );

  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly database: Database,
  ) {}

  @Get('live')
  @ApiOperation({ summary: 'Whether the process is alive' })
  @ApiOkResponse({
    schema: {
      type: 'object',
      properties: { status: { type: 'string', example: 'ok' } },
      required: ['status'],
    },
  })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  @HealthCheck()
  @ApiOperation({ summary: 'Whether the service can work: the database answers and is migrated' })
  ready() {
    return this.check();
  }

  private async indicate(name: string, healthy: Promise<boolean>, otherwise: string) {
    const indicator = this.indicators.check(name);
    return (await healthy) ? indicator.up() : indicator.down(otherwise);
  }
}
