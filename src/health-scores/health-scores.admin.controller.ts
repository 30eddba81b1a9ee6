import { Controller, Get, Param, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../admin/requires-role.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ListQuery } from '../api/lists/page.js';
import { ValidQuery } from '../api/validation/query.js';
import { ApiErrors } from '../api/api-errors.js';
import {
  HEALTH_SCORE_COLUMNS,
  HealthScoreListResponse,
  HealthScoreResponse,
  healthScoreResponse,
} from './health-score.response.js';
import { HealthScores } from './health-scores.service.js';

/** Contract, section 9, "Health and pauses". */
@ApiTags('Health scores')
@Controller('v1/admin')
export class HealthScoresAdminController {
  constructor(private readonly scores: HealthScores) {}

  @Get('health-scores')
  @RequiresRole('support')
  @ApiOperation({
    operationId: 'listHealthScores',
    summary: 'List how well operators and providers answer, ordered by id',
    description: 'Over all instances, at most 5 seconds old.',
  })
  @ApiList(HealthScoreListResponse, ListQuery, HEALTH_SCORE_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED')
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<HealthScoreListResponse | StreamableFile> {
    const read = (page: ListQuery) => this.scores.list(page);
    return answerList(format, { query, name: 'health-scores', columns: HEALTH_SCORE_COLUMNS, read });
  }

  @Get('operators/:id/health')
  @RequiresRole('support')
  @ApiOperation({
    operationId: 'getOperatorHealth',
    summary: "Read how well an operator's wallet answers",
    description:
      'Counts the transactions and balance reads that all instances sent to the wallet. Each valid ' +
      'answer is a success, including DECLINED. At most 5 seconds old.',
  })
  @ApiOkResponse({ type: HealthScoreResponse })
  @ApiErrors('UNAUTHORIZED', 'NOT_FOUND')
  async ofOperator(@Param('id') id: string): Promise<HealthScoreResponse> {
    return healthScoreResponse(await this.scores.find('OPERATOR', id));
  }

  @Get('providers/:id/health')
  @RequiresRole('support')
  @ApiOperation({
    operationId: 'getProviderHealth',
    summary: 'Read how well a provider answers',
    description:
      'Counts the callbacks that all instances sent to the provider. Each complete 200 is a success. At most 5 ' +
      'seconds old.',
  })
  @ApiOkResponse({ type: HealthScoreResponse })
  @ApiErrors('UNAUTHORIZED', 'NOT_FOUND')
  async ofProvider(@Param('id') id: string): Promise<HealthScoreResponse> {
    return healthScoreResponse(await this.scores.find('PROVIDER', id));
  }
}
