import { Controller, Delete, Get, HttpCode, Put, type StreamableFile } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ListQuery } from '../api/lists/page.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { CurrencyParam, IdentifierParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import { LIMIT_COLUMNS, LimitListResponse, LimitResponse, PutLimitRequest } from './limit.request.js';
import { LimitsService } from './limits.service.js';

const KEY = ':operatorId/:currency';
const TARGET = 'limit:{operatorId}/{currency}';

/** Contract, section 9, "Limits and approvals". */
@ApiTags('Limits and approvals')
@Controller('v1/admin/limits')
export class LimitsAdminController {
  constructor(private readonly limits: LimitsService) {}

  @Put(KEY)
  @AdminRoute('setLimits', {
    role: 'admin',
    summary: 'Set the limits of an operator in a currency',
    description:
      'Replaces all limits: an absent field means no limit. A grant, batch or adjustment above a limit ' +
      'waits for the approval of a second person, even if the operator itself requested it. A WIN is ' +
      'always booked, because the provider decides outcomes.',
    body: PutLimitRequest,
    audited: ['limit.replace', TARGET],
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: LimitResponse })
  put(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('operatorId') operatorId: string,
    @CurrencyParam('currency') currency: string,
    @JsonBody() request: PutLimitRequest,
  ): Promise<LimitResponse> {
    return this.limits.put(actor, { operatorId, currency }, request);
  }

  @Get()
  @AdminRoute('listLimits', {
    role: 'auditor',
    summary: 'List the limits, with the amounts used in the last 24 hours',
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

  @Get(KEY)
  @AdminRoute('getLimits', {
    role: 'auditor',
    summary: 'Read the limits of an operator in a currency',
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  })
  @ApiOkResponse({ type: LimitResponse })
  find(
    @IdentifierParam('operatorId') operatorId: string,
    @CurrencyParam('currency') currency: string,
  ): Promise<LimitResponse> {
    return this.limits.find({ operatorId, currency });
  }

  @Delete(KEY)
  @NoBody()
  @HttpCode(204)
  @AdminRoute('removeLimits', {
    role: 'admin',
    summary: 'Remove the limits of an operator in a currency',
    description:
      'From then on no grant, batch or adjustment in this currency needs approval, except for those that ' +
      'already wait for it.',
    audited: ['limit.remove', TARGET],
    errors: ['NOT_FOUND'],
  })
  @ApiNoContentResponse({ description: 'removed' })
  remove(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('operatorId') operatorId: string,
    @CurrencyParam('currency') currency: string,
  ): Promise<void> {
    return this.limits.remove(actor, { operatorId, currency });
  }
}
