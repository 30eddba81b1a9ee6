import { Controller, Get, Param, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
import { ROUNDS_ROUTE } from '../desk.routes.js';
import { FindRoundQuery, RoundQuery } from './round.admin.request.js';
import { ROUND_COLUMNS, RoundDetail, RoundListResponse } from './round.admin.response.js';
import { RoundDesk } from './round-desk.service.js';

/** Contract, section 9. */
@ApiTags('Rounds')
@Controller('v1/admin/rounds')
export class RoundsAdminController {
  constructor(private readonly rounds: RoundDesk) {}

  @Get()
  @AdminRoute('listRounds', {
    ...ROUNDS_ROUTE,
    role: 'auditor',
    sensitiveRead: ['rounds.list', 'rounds'],
  })
  @ApiList(RoundListResponse, RoundQuery, ROUND_COLUMNS)
  list(
    @ValidQuery() query: RoundQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<RoundListResponse | StreamableFile> {
    const read = (page: RoundQuery) => this.rounds.list(page);
    return answerList(format, { query, name: 'rounds', columns: ROUND_COLUMNS, read });
  }

  @Get(':providerId/:roundId')
  @AdminRoute('getRound', {
    role: 'auditor',
    summary: 'Read a round with its transactions and their sums',
    description:
      'Several players, games and operators may share a roundId: the parameters select one round, and are ' +
      'required if several match.',
    sensitiveRead: ['round.read', 'round:{providerId}/{roundId}', { polled: true }],
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  })
  @ApiQuery({ type: FindRoundQuery })
  @ApiOkResponse({ type: RoundDetail })
  find(
    @Param('providerId') providerId: string,
    @Param('roundId') roundId: string,
    @ValidQuery() query: FindRoundQuery,
  ): Promise<RoundDetail> {
    return this.rounds.detail({ providerId, roundId }, query);
  }
}
