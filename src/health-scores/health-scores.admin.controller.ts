import { Controller, Get, Param, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ListQuery } from '../api/lists/page.js';
import { ValidQuery } from '../api/validation/query.js';
import {
  HEALTH_SCORE_COLUMNS,
  HealthScoreListResponse,
  HealthScoreResponse,
} from './health-score.response.js';
import { HealthScores } from './health-scores.service.js';

/** Contract, section 9, "Health and pauses". */
@ApiTags('Health scores')
@Controller('v1/admin')
export class HealthScoresAdminController {
  constructor(private readonly scores: HealthScores) {}

  @Get('health-scores')
  @AdminRoute('listHealthScores', {
    role: 'auditor',
    summary: 'List how well operators and providers answer, ordered by id',
    description: 'Over all instances, at most 5 seconds old.',
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(HealthScoreListResponse, ListQuery, HEALTH_SCORE_COLUMNS)
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<HealthScoreListResponse | StreamableFile> {
    const read = (page: ListQuery) => this.scores.list(page);
    return answerList(format, { query, name: 'health-scores', columns: HEALTH_SCORE_COLUMNS, read });
  }

  @Get('operators/:id/health')
  @AdminRoute('getOperatorHealth', {
    role: 'auditor',
    summary: "Read how well an operator's wallet answers",
    description:
      'Counts the transactions and balance reads that all instances sent to the wallet. Each valid ' +
      'answer is a success, including DECLINED. At most 5 seconds old.',
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: HealthScoreResponse })
  ofOperator(@Param('id') id: string): Promise<HealthScoreResponse> {
    return this.scores.find('OPERATOR', id);
  }

  @Get('providers/:id/health')
  @AdminRoute('getProviderHealth', {
    role: 'auditor',
    summary: 'Read how well a provider answers',
    description:
      'Counts the callbacks that all instances sent to the provider. Each complete 200 is a success. At most 5 ' +
      'seconds old.',
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: HealthScoreResponse })
  ofProvider(@Param('id') id: string): Promise<HealthScoreResponse> {
    return this.scores.find('PROVIDER', id);
  }
}
