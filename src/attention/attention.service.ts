import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import { CroupierError } from '../errors/croupier-error.js';
import type { PageOf } from '../api/lists/page.js';
import { pageByTime } from '../api/lists/time-page.js';
import { isUuid } from '../api/validation/identifier.js';
import { Clock } from '../runtime/clock.js';
import { instantOrDayMs } from '../runtime/instant.js';
import type { AttentionQuery } from './attention.request.js';
import {
  attentionItem,
  type AttentionItem,
  attentionResponse,
  type AttentionResponse,
} from './attention.response.js';
import { AttentionStore } from './attention.store.js';

/** The name of a change's value in the audit log. */
const RECORDED = { assign: 'assignee', snooze: 'until', comment: 'text', close: 'reason' } as const;

/** Lists items of the attention queue and changes them for administrators. Contract, section 9, "Attention". */
@Injectable()
export class AttentionService {
  constructor(
    private readonly items: AttentionStore,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /**
   * Newest first.
   * @throws CroupierError INVALID_REQUEST
   */
  async list(query: AttentionQuery): Promise<PageOf<AttentionItem>> {
    await this.items.wake();
    return pageByTime(
      query,
      isUuid,
      ({ before, limit }) => this.items.page(query, before, limit),
      (item) => attentionItem(item),
    );
  }

  /** @throws CroupierError NOT_FOUND */
  async find(id: string): Promise<AttentionResponse> {
    await this.items.wake();
    const item = await this.items.find(id);
    if (!item) throw new CroupierError('NOT_FOUND', 'no such item');
    return attentionResponse(item, await this.items.events(id));
  }

  /**
   * Snoozes the item, which becomes OPEN again at the time `until`.
   * @throws CroupierError INVALID_REQUEST if `until` is not in the future · NOT_FOUND · CONFLICT if the item is closed
   */
  async snooze(actor: Actor, id: string, until: string): Promise<AttentionResponse> {
    const instant = new Date(instantOrDayMs(until)!);
    if (instant <= this.clock.now())
      throw new CroupierError('INVALID_REQUEST', 'until must be in the future');
    return this.change(actor, id, 'snooze', instant.toISOString());
  }

  /**
   * Assigns an item, comments on it or closes it. No new item is opened as long as the cause of a closed item is present.
   * @param value the assignee (null removes the assignment), the comment, or the reason for closing
   * @throws CroupierError NOT_FOUND · CONFLICT if the item is closed, except for a comment
   */
  async change(
    actor: Actor,
    id: string,
    verb: keyof typeof RECORDED,
    value: string | null,
  ): Promise<AttentionResponse> {
    await this.find(id);
    const changed = await this.audit.change(actor, async ({ query }, record) => {
      const written = await this.items.change(query, id, verb, actor, value);
      const after = { [RECORDED[verb]]: value };
      if (written) await record({ action: `attention.${verb}`, target: `attention:${id}`, after });
      return written;
    });
    if (!changed) throw new CroupierError('CONFLICT', 'the item is closed');
    return this.find(id);
  }
}
