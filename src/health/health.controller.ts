import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Unsigned } from '../api/caller.js';
import { type Checks, Readiness, CHECK_STATES, type ReadinessStatus } from './readiness.js';

class LivenessResponse {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
}

class ReadinessChecks implements Checks {
  @ApiProperty({ enum: CHECK_STATES })
  database: Checks['database'];

  @ApiProperty({
    enum: [...CHECK_STATES, 'unknown'],
    description: '`down`: a migration is pending; `unknown` while the database is down',
  })
  migrations: Checks['migrations'];

  @ApiProperty({ enum: CHECK_STATES, required: false, description: 'present if `REDIS_URL` is set' })
  redis?: NonNullable<Checks['redis']>;

  @ApiProperty({
    type: [String],
    required: false,
    example: ['default_transaction_isolation'],
    description:
      'present in a 503: the settings of PostgreSQL that have another value on new connections than the service states',
  })
  settings?: readonly string[];
}

class ReadinessResponse {
  @ApiProperty({ enum: ['ok', 'unavailable', 'stopping'] })
  status: ReadinessStatus;

  @ApiProperty()
  checks: ReadinessChecks;
}

/** Tells orchestrators and load balancers whether the instance is alive and ready. */
@ApiTags('Monitoring')
@Unsigned()
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @ApiOperation({
    operationId: 'checkLiveness',
    summary: 'Whether the process is alive',
    description: 'Checks nothing that the process depends on.',
  })
  @ApiOkResponse({ type: LivenessResponse })
  live(): LivenessResponse {
    return { status: 'ok' };
  }

  @Get('ready')
  @ApiOperation({
    operationId: 'checkReadiness',
    summary: 'Whether the instance can serve requests',
    description:
      'Ready while the database answers and is migrated, its connections have the settings that the service ' +
      'states, Redis answers (if `REDIS_URL` is set), and the instance is not stopping.',
  })
  @ApiOkResponse({ type: ReadinessResponse })
  @ApiResponse({
    status: HttpStatus.SERVICE_UNAVAILABLE,
    type: ReadinessResponse,
    description: 'The instance must not get requests',
  })
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessResponse> {
    const { status, checks } = await this.readiness.read();
    if (status !== 'ok') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return { status, checks };
  }
}
