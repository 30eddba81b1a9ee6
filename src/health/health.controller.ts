import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Unsigned } from '../api/caller.js';
import { Readiness, ReadinessResponse } from './readiness.js';

class LivenessResponse {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
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
      'states, Redis answers (if `REDIS_URL` is set), the tenants were read within the last 30 seconds, and the ' +
      'instance is not stopping.',
  })
  @ApiOkResponse({ type: ReadinessResponse })
  @ApiResponse({
    status: HttpStatus.SERVICE_UNAVAILABLE,
    type: ReadinessResponse,
    description: 'The instance must not get requests',
  })
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessResponse> {
    const readiness = await this.readiness.read();
    if (readiness.status !== 'ok') response.status(HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
