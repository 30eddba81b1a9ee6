import { Controller, Get, Param, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../admin/requires-role.js';
import { CroupierError } from '../errors/croupier-error.js';
import { SensitiveRead } from '../audit/sensitive-read.js';
import { ApiErrors } from '../openapi/api-errors.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../http/lists/list.js';
import { ValidQuery } from '../http/validation/query.js';
import { pageByTime, present } from '../http/lists/time-page.js';
import {
  CALLBACK_COLUMNS,
  CallbackItem,
  CallbackListResponse,
  CallbackQuery,
} from './callback.admin.response.js';
import { type CallbackRow, CallbackSearchStore } from './callback-search.store.js';

/** At most 15 digits, so that it is exact. */
const CALLBACK_ID = /^[1-9]\d{0,14}$/;

/** Contract, section 7. */
@ApiTags('Administrators')
@Controller('v1/admin/callbacks')
export class CallbacksAdminController {
  constructor(private readonly callbacks: CallbackSearchStore) {}

  @Get()
  @RequiresRole('support')
  @SensitiveRead('callbacks.list')
  @ApiOperation({
    summary: 'Search the attempts to call providers, newest first',
    description: 'What was sent and what came back, up to 4 KiB of it.',
  })
  @ApiList(CallbackListResponse, CallbackQuery, CALLBACK_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  list(
    @ValidQuery() query: CallbackQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<CallbackListResponse | StreamableFile> {
    const read = (part: CallbackQuery) =>
      pageByTime<CallbackRow & { place: string }, CallbackItem>(
        part,
        (id) => CALLBACK_ID.test(id),
        (page) => this.callbacks.page(part, page),
        itemOf,
      );
    return answerList(format, { query, name: 'callbacks', columns: CALLBACK_COLUMNS, read });
  }

  @Get(':callbackId')
  @RequiresRole('support')
  @SensitiveRead('callback.read')
  @ApiOperation({ summary: 'Read one attempt' })
  @ApiOkResponse({ type: CallbackItem })
  @ApiErrors('UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async find(@Param('callbackId') callbackId: string): Promise<CallbackItem> {
    const row = CALLBACK_ID.test(callbackId) ? await this.callbacks.find(Number(callbackId)) : undefined;
    if (!row) throw new CroupierError('NOT_FOUND', 'no such callback');
    return itemOf(row);
  }
}

function itemOf(row: CallbackRow): CallbackItem {
  const { callbackId, providerId, route, reference, requestId, body, status, answer, error } = row;
  const { durationMs, createdAt, completedAt } = row;
  return present<CallbackItem>({
    ...{ callbackId, providerId, route, reference, requestId, body, status, answer, error },
    ...{ durationMs, createdAt, completedAt },
  });
}
