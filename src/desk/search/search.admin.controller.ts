import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
import { SearchQuery } from './search.request.js';
import { SEARCH_COLUMNS, SearchResponse } from './search.response.js';
import { SearchStore } from './search.store.js';

/** Contract, section 9. */
@ApiTags('Search')
@Controller('v1/admin/search')
export class SearchAdminController {
  constructor(private readonly found: SearchStore) {}

  @Get()
  @AdminRoute('searchById', {
    role: 'auditor',
    summary: 'Find records by an id',
    description:
      'Takes the id of a transaction, round, session, player, grant (requestRef or externalRef), batch (batchId ' +
      'or batchRef), approval or request, in full. Request ids of wallet calls and callbacks, and platform and ' +
      'operator transaction ids, are found for seven days. A `request` leads to its transaction, to its ' +
      'callback, or to its entries in the audit log.',
    sensitiveRead: ['search', 'search'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(
    SearchResponse,
    SearchQuery,
    SEARCH_COLUMNS,
    'The newest 50. With `Accept: text/csv`, the same as CSV (RFC 4180, UTF-8).',
  )
  search(
    @ValidQuery() query: SearchQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<SearchResponse | StreamableFile> {
    const read = ({ q }: SearchQuery) => this.found.search(q);
    return answerList(format, { query, name: 'search', columns: SEARCH_COLUMNS, read });
  }
}
