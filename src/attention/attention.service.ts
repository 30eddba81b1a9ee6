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
   * @param assignee free text; null removes the assignment
   * @throws CroupierError NOT_FOUND · CONFLICT if the item is closed
   */
  assign(actor: Actor, id: string, assignee: string | null): Promise<AttentionResponse> {
    return this.change(actor, id, 'assign', assignee, { assignee });
  }

  /**
   * Snoozes the item, which becomes OPEN again at the time `until`.
   * @throws CroupierError INVALID_REQUEST if `until` is not in the future · NOT_FOUND · CONFLICT if the item is closed
   */
  async snooze(actor: Actor, id: string, until: string): Promise<AttentionResponse> {
    const instant = new Date(instantOrDayMs(until)!);
    if (instant <= this.clock.now())
      throw new CroupierError('INVALID_REQUEST', 'until must be in the future');
    return this.change(actor, id, 'snooze', instant.toISOString(), { until: instant.toISOString() });
  }

  /** @throws CroupierError NOT_FOUND */
  comment(actor: Actor, id: string, text: string): Promise<AttentionResponse> {
    return this.change(actor, id, 'comment', text, { text });
  }

  /**
   * Closes the item. No new item is opened as long as its cause is present.
   * @throws CroupierError NOT_FOUND · CONFLICT if the item is already closed
   */
  close(actor: Actor, id: string, reason: string): Promise<AttentionResponse> {
    return this.change(actor, id, 'close', reason, { reason });
  }

  private async change(
    actor: Actor,
    id: string,
    verb: 'assign' | 'snooze' | 'comment' | 'close',
    value: string | null,
    after: object,
  ): Promise<AttentionResponse> {
    await this.find(id);
    const changed = await this.audit.change(actor, async ({ query }, record) => {
      const written = await this.items.change(query, id, verb, actor, value);
      if (written) await record({ action: `attention.${verb}`, target: `attention:${id}`, after });
      return written;
    });
    if (!changed) throw new CroupierError('CONFLICT', 'the item is closed');
    return this.find(id);
  }
}
