import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { itemFrom } from '../../api/lists/item.js';
import { pageOfWindow } from '../../api/lists/time-page.js';
import { isUuid } from '../../api/validation/identifier.js';
import { ValidQuery } from '../../api/validation/query.js';
import { FlaggedWinQuery } from '../free-spins.request.js';
import { FLAGGED_WIN_COLUMNS, FlaggedWinListResponse } from './winnings.response.js';
import { WinningsStore } from './winnings.store.js';

/** Flagged winnings for administrators. The path is not under /free-spins, where any word may be a grant's requestRef. */
@ApiTags('Free spins')
@Controller('v1/admin/free-spins-winnings')
export class WinningsAdminController {
  constructor(private readonly winnings: WinningsStore) {}

  @Get('flagged')
  @AdminRoute('listFlaggedWinnings', {
    role: 'auditor',
    summary: 'List flagged winnings, newest first',
    description:
      'Booked WINs of real money that a person should review. A flag never changes what was booked. ' +
      'Each WIN has the first flag that applies: `UNKNOWN_BATCH`, its freeSpinsRef names no grant of ' +
      'the provider; `OTHER_PLAYER` or `OTHER_CURRENCY`, the grant is for another player or currency; ' +
      '`CANCELLED`, the grant was cancelled before; `NO_STANDING_BET`, a BET of its round was rolled ' +
      'back or has a tombstone, and none is PENDING, TIMED_OUT or APPROVED; `ABOVE_LIMIT`, it was above ' +
      '`maxWinMinor`. A round that has no BETs, or only DECLINED ones, is no reason for a flag. A WIN leaves the list ' +
      'when its flag no longer applies. A page examines a bounded number of WINs. It may be short or ' +
      'empty and still have a `nextCursor`.',
    sensitiveRead: ['free-spins.flagged-list', 'flagged-winnings'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(FlaggedWinListResponse, FlaggedWinQuery, FLAGGED_WIN_COLUMNS)
  flagged(
    @ValidQuery() query: FlaggedWinQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<FlaggedWinListResponse | StreamableFile> {
    const read = (page: FlaggedWinQuery) =>
      pageOfWindow(
        page,
        isUuid,
        ({ before, limit }) => this.winnings.flagged(page, before, limit),
        (win) => itemFrom(FLAGGED_WIN_COLUMNS, win),
      );
    return answerList(format, { query, name: 'flagged-winnings', columns: FLAGGED_WIN_COLUMNS, read });
  }
}
