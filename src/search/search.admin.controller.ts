import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../admin/requires-role.js';
import { SensitiveRead } from '../audit/sensitive-read.js';
import { ValidQuery } from '../http/validation/query.js';
import { ApiErrors } from '../openapi/api-errors.js';
import { SearchQuery } from './search.request.js';
import { SearchResponse } from './search.response.js';
import { SearchService } from './search.service.js';

/** Contract, section 9. */
@ApiTags('Search')
@Controller('v1/admin/search')
export class SearchAdminController {
  constructor(private readonly searches: SearchService) {}

  @Get()
  @RequiresRole('support')
  @SensitiveRead('search', 'search')
  @ApiOperation({
    summary: 'Find what an id names',
    description:
      'Takes the id of a transaction, round, session, player, grant (requestRef or externalRef), batch (batchId or batchRef), ' +
      'approval or request, in full. Request ids of wallet calls, and platform and operator transaction ids, are found for ' +
      'seven days. A `request` leads to the transaction that it was about, or to its entries in the audit log.',
  })
  @ApiQuery({ type: SearchQuery })
  @ApiOkResponse({ type: SearchResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  search(@ValidQuery() { q }: SearchQuery): Promise<SearchResponse> {
    return this.searches.search(q);
  }
}
