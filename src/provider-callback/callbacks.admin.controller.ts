import { Controller, Get, Param, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { CroupierError } from '../errors/croupier-error.js';
import { itemFrom } from '../api/lists/item.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ValidQuery } from '../api/validation/query.js';
import { pageOfWindow } from '../api/lists/time-page.js';
import { CallbackQuery } from './callback.admin.request.js';
import { CALLBACK_COLUMNS, CallbackItem, CallbackListResponse } from './callback.admin.response.js';
import type { Callback } from './callback.entity.js';
import { CallbackStore } from './callback.store.js';

/** At most 15 digits, because a number holds them exactly. */
const CALLBACK_ID = /^[1-9]\d{0,14}$/;

/** Contract, section 7. */
@ApiTags('Callbacks')
@Controller('v1/admin/callbacks')
export class CallbacksAdminController {
  constructor(private readonly callbacks: CallbackStore) {}

  @Get()
  @AdminRoute('listCallbacks', {
    role: 'auditor',
    summary: 'Search the attempts to call providers, newest first',
    description: 'Each attempt has the request and up to 4 KiB of the answer.',
    sensitiveRead: ['callbacks.list', 'callbacks', { polled: true }],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(CallbackListResponse, CallbackQuery, CALLBACK_COLUMNS)
  list(
    @ValidQuery() query: CallbackQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<CallbackListResponse | StreamableFile> {
    const read = (part: CallbackQuery) =>
      pageOfWindow<Callback & { place: string }, CallbackItem>(
        part,
        (id) => CALLBACK_ID.test(id),
        ({ before, limit }) => this.callbacks.page(part, before, limit),
        (callback) => itemFrom(CALLBACK_COLUMNS, callback),
      );
    return answerList(format, { query, name: 'callbacks', columns: CALLBACK_COLUMNS, read });
  }

  @Get(':callbackId')
  @AdminRoute('getCallback', {
    role: 'auditor',
    summary: 'Read one attempt',
    sensitiveRead: ['callback.read', 'callback:{callbackId}'],
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: CallbackItem })
  async find(@Param('callbackId') callbackId: string): Promise<CallbackItem> {
    const callback = CALLBACK_ID.test(callbackId) ? await this.callbacks.find(Number(callbackId)) : null;
    if (!callback) throw new CroupierError('NOT_FOUND', 'no such callback');
    return itemFrom(CALLBACK_COLUMNS, callback);
  }
}
