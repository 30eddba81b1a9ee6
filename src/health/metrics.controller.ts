import { Controller, Get, Header, Headers } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { ApiErrorWithMessage } from '../api/api-errors.js';
import { Unsigned } from '../api/caller.js';
import { equalInConstantTime } from '../runtime/digest.js';
import { atMostEvery } from '../observability/at-most-every.js';
import { Metrics } from '../observability/metrics.js';

/** Callers within this time, in milliseconds, share one reading of all metrics. */
const READ_EVERY_MS = 1_000;
const TOKEN_REQUIRED = 'a valid bearer token is required';

@ApiTags('Monitoring')
@Unsigned()
@Controller('metrics')
export class MetricsController {
  private readonly text = atMostEvery(READ_EVERY_MS, () => this.metrics.text());

  constructor(
    private readonly configuration: Configuration,
    private readonly metrics: Metrics,
  ) {}

  @Get()
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @ApiOperation({
    operationId: 'readMetrics',
    summary: 'Metrics for Prometheus',
    description: 'Needs a bearer token if `METRICS_TOKEN` is set.',
  })
  @ApiProduces('text/plain')
  @ApiOkResponse({
    schema: { type: 'string', example: 'croupier_transactions_undecided{state="PENDING"} 0' },
  })
  @ApiErrorWithMessage('UNAUTHORIZED', TOKEN_REQUIRED)
  read(@Headers('authorization') authorization: string | undefined): Promise<string> {
    const { metricsToken } = this.configuration;
    if (metricsToken !== undefined && !equalInConstantTime(authorization ?? '', `Bearer ${metricsToken}`)) {
      throw new CroupierError('UNAUTHORIZED', TOKEN_REQUIRED, { 'WWW-Authenticate': 'Bearer' });
    }
    return this.text();
  }
}
