import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../../admin/requires-role.js';
import { SensitiveRead } from '../../audit/sensitive-read.js';
import { ApiErrors } from '../../openapi/api-errors.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../http/lists/list.js';
import { ValidQuery } from '../../http/validation/query.js';
import { ListQuery } from '../../http/lists/page.js';
import { FLAGGED_WIN_COLUMNS, FlaggedWinListResponse, flaggedWinResponse } from './winnings.response.js';
import { WinningsService } from './winnings.service.js';

/** Not under /free-spins, where any word may be a grant's requestRef. */
@ApiTags('Free spins')
@Controller('v1/admin/free-spins-winnings')
export class WinningsAdminController {
  constructor(private readonly winnings: WinningsService) {}

  @Get('flagged')
  @RequiresRole('support')
  @ApiOperation({
    summary: 'List flagged winnings, newest first',
    description:
      'Booked WINs of real money that a person should look at; a flag never changes what was booked. By ' +
      'freeSpinsRef: no batch of the provider (`UNKNOWN_BATCH`), a batch of another player (`OTHER_PLAYER`) or ' +
      'currency (`OTHER_CURRENCY`), or one that was cancelled before (`CANCELLED`). By round, with and without ' +
      'a freeSpinsRef: `NO_STANDING_BET`, if a BET is ROLLED_BACK, or its rollback came first, and no BET is ' +
      'PENDING, TIMED_OUT or APPROVED, whatever the amount of the WIN; DECLINED BETs do not count, and a WIN in ' +
      'a round without any other BET is not flagged. Each WIN has one flag: the first that applies, in this ' +
      'order. A WIN leaves the list when its flag no longer applies.',
  })
  @SensitiveRead('free-spins.flagged-list', 'flagged-winnings')
  @ApiList(FlaggedWinListResponse, ListQuery, FLAGGED_WIN_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  flagged(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<FlaggedWinListResponse | StreamableFile> {
    const read = async (page: ListQuery) => {
      const found = await this.winnings.flagged(page);
      return { ...found, items: found.items.map(flaggedWinResponse) };
    };
    return answerList(format, { query, name: 'flagged-winnings', columns: FLAGGED_WIN_COLUMNS, read });
  }
}
