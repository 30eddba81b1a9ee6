import { Controller, Get, Param, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../../admin/requires-role.js';
import { SensitiveRead } from '../../audit/sensitive-read.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
import { ApiErrors } from '../../api/api-errors.js';
import { FindRoundQuery, RoundQuery } from './round.admin.request.js';
import { ROUND_COLUMNS, RoundDetail, RoundListResponse } from './round.admin.response.js';
import { RoundDesk } from './round-desk.service.js';

/** Contract, section 9. */
@ApiTags('Rounds')
@Controller('v1/admin/rounds')
export class RoundsAdminController {
  constructor(private readonly rounds: RoundDesk) {}

  @Get()
  @RequiresRole('support')
  @SensitiveRead('rounds.list', 'rounds')
  @ApiOperation({
    operationId: 'listRounds',
    summary: 'Search real-money rounds, newest first',
    description:
      'The age of a round counts from its first BET. A page examines a bounded number of transactions. ' +
      'It may be short or empty and still have a `nextCursor`.',
  })
  @ApiList(RoundListResponse, RoundQuery, ROUND_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  list(
    @ValidQuery() query: RoundQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<RoundListResponse | StreamableFile> {
    const read = (page: RoundQuery) => this.rounds.list(page);
    return answerList(format, { query, name: 'rounds', columns: ROUND_COLUMNS, read });
  }

  @Get(':providerId/:roundId')
  @RequiresRole('support')
  @SensitiveRead('round.read', 'round:{providerId}/{roundId}')
  @ApiOperation({
    operationId: 'getRound',
    summary: 'Read a round with its transactions and their sums',
    description:
      'Several players, games and operators may share a roundId: the parameters select one round, and are ' +
      'required if several match.',
  })
  @ApiQuery({ type: FindRoundQuery })
  @ApiOkResponse({ type: RoundDetail })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  find(
    @Param('providerId') providerId: string,
    @Param('roundId') roundId: string,
    @ValidQuery() query: FindRoundQuery,
  ): Promise<RoundDetail> {
    return this.rounds.detail({ providerId, roundId }, query);
  }
}
