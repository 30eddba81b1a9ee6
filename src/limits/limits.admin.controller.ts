import { Controller, Get, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ListQuery } from '../api/lists/page.js';
import { CurrencyParam, IdentifierParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import {
  LIMIT_COLUMNS,
  LimitListResponse,
  LimitResponse,
  MISSING_COLUMNS,
  MissingLimitListResponse,
} from './limit.response.js';
import { LimitsService } from './limits.service.js';

/** Reads limits; limit-changes/ changes them. Contract, section 9, "Limits and approvals". */
@ApiTags('Limits and approvals')
@Controller('v1/admin/limits')
export class LimitsAdminController {
  constructor(private readonly limits: LimitsService) {}

  @Get()
  @AdminRoute('listLimits', {
    role: 'auditor',
    summary: 'List the limits, with the amounts used in the last 24 hours',
    sensitiveRead: ['limits.list', 'limits'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(LimitListResponse, ListQuery, LIMIT_COLUMNS)
  list(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<LimitListResponse | StreamableFile> {
    const read = (page: ListQuery) => this.limits.list(page);
    return answerList(format, { query, name: 'limits', columns: LIMIT_COLUMNS, read });
  }

  @Get('missing')
  @AdminRoute('listMissingLimits', {
    role: 'auditor',
    summary: 'List the currencies without limits',
    description:
      'The currencies of active operators that they have declared, or in which they have traded in the last 30 days, ' +
      'without any limit on grants or adjustments, either of the operator or of the default `*`.',
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(MissingLimitListResponse, ListQuery, MISSING_COLUMNS)
  missing(
    @ValidQuery() query: ListQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<MissingLimitListResponse | StreamableFile> {
    const read = (page: ListQuery) => this.limits.missing(page);
    return answerList(format, { query, name: 'limits-missing', columns: MISSING_COLUMNS, read });
  }

  @Get(':operatorId/:currency')
  @AdminRoute('getLimits', {
    role: 'auditor',
    summary: 'Read the limits of an operator in a currency',
    description:
      "The operator's own limits, without the installation's default, which is that of the operator `*`.",
    sensitiveRead: ['limit.read', 'limit:{operatorId}/{currency}'],
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  })
  @ApiOkResponse({ type: LimitResponse })
  find(
    @IdentifierParam('operatorId') operatorId: string,
    @CurrencyParam('currency') currency: string,
  ): Promise<LimitResponse> {
    return this.limits.find({ operatorId, currency });
  }
}
