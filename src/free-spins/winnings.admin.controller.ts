import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../admin/requires-role.js';
import { ApiErrors } from '../http/api-errors.js';
import { ValidQuery } from '../http/query.js';
import { PageQuery } from '../http/page.js';
import { FlaggedWinListResponse, shownWin } from './free-spins.response.js';
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
  @ApiQuery({ type: PageQuery })
  @ApiOkResponse({ type: FlaggedWinListResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  async flagged(@ValidQuery() query: PageQuery): Promise<FlaggedWinListResponse> {
    const found = await this.winnings.flagged(query);
    return { ...found, items: found.items.map(shownWin) };
  }
}
