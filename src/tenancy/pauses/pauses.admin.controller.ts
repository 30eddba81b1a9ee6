import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ListQuery } from '../../api/lists/page.js';
import { ValidQuery } from '../../api/validation/query.js';
import { PAUSE_COLUMNS, PauseListResponse } from './pause.response.js';
import { PausesService } from './pauses.service.js';

/** Contract, section 9, "Health and pauses". */
@ApiTags('Pauses')
@Controller('v1/admin/pauses')
export class PausesAdminController {
  constructor(private readonly pauses: PausesService) {}

  @Get()
  @AdminRoute('listPauses', {
    role: 'auditor',
    summary: 'List the operators, providers and games that are paused now, ordered by kind and id',
    description: 'A pause that has ended is not in the list.',
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(PauseListResponse, ListQuery, PAUSE_COLUMNS)
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<PauseListResponse | StreamableFile> {
    const read = (page: ListQuery) => this.pauses.list(page);
    return answerList(format, { query, name: 'pauses', columns: PAUSE_COLUMNS, read });
  }
}
