import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../admin/requires-role.js';
import { SensitiveRead } from '../audit/sensitive-read.js';
import { ApiErrors } from '../http/api-errors.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../http/list.js';
import { ValidQuery } from '../http/query.js';
import { PageQuery } from '../http/page.js';
import { FLAGGED_WIN_COLUMNS, FlaggedWinListResponse, shownWin } from './free-spins.response.js';
import { WinningsService } from './winnings.service.js';

/** A path of its own: any word may be a grant's requestRef. */
@ApiTags('Administrators')
@Controller('v1/admin/free-spins-winnings')
export class WinningsAdminController {
  constructor(private readonly winnings: WinningsService) {}

  @Get('flagged')
  @RequiresRole('support')
  @ApiOperation({
    summary: 'List odd winnings of free spins, newest first',
    description:
      'Booked WINs whose freeSpinsRef is no batch of the provider, or one of another player or currency, or one ' +
      'that was cancelled before. They are booked all the same: a person decides what follows.',
  })
  @SensitiveRead('free-spins.flagged-list')
  @ApiList(FlaggedWinListResponse, PageQuery, FLAGGED_WIN_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  flagged(
    @ValidQuery() query: PageQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<FlaggedWinListResponse | StreamableFile> {
    const read = async (page: PageQuery) => {
      const found = await this.winnings.flagged(page);
      return { ...found, items: found.items.map(shownWin) };
    };
    return answerList(format, { query, name: 'flagged-winnings', columns: FLAGGED_WIN_COLUMNS, read });
  }
}
