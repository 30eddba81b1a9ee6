import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit, type RecordEntry } from '../audit/audit.service.js';
import type { Transaction } from '../database/database.js';
import { DatabaseClock } from '../database/database-clock.js';
import type { Stage } from '../database/turns.js';
import { CroupierError } from '../errors/croupier-error.js';
import type { PageOf } from '../api/lists/page.js';
import { pageByTime } from '../api/lists/time-page.js';
import { isUuid } from '../api/validation/identifier.js';
import { futureInstant } from '../api/validation/instant.js';
import { ATTENTION_KINDS, type AttentionKind } from './attention.js';
import type { AttentionQuery } from './attention.request.js';
import {
  attentionItem,
  type AttentionItem,
  attentionResponse,
  type AttentionResponse,
  type SeveralItemsResponse,
} from './attention.response.js';
import { AttentionStore } from './attention.store.js';

/** The name of a change's value in the audit log. */
const RECORDED = { assign: 'assignee', snooze: 'until', comment: 'text', close: 'reason' } as const;

type Verb = keyof typeof RECORDED;

const UNKNOWN = 'no such item';
const CLOSED = 'the item is closed';

/** Lists items of the attention queue and changes them for administrators. Contract, section 9, "Attention". */
@Injectable()
export class AttentionService {
  constructor(
    private readonly items: AttentionStore,
    private readonly audit: Audit,
    private readonly databaseClock: DatabaseClock,
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

  /** The number of OPEN items of each kind. */
  async openByKind(): Promise<Record<AttentionKind, number>> {
    await this.items.wake();
    const counts = (await this.items.count()).filter(({ state }) => state === 'OPEN');
    const open = new Map(counts.map(({ kind, value }) => [kind, value]));
    return Object.fromEntries(ATTENTION_KINDS.map((kind) => [kind, open.get(kind) ?? 0])) as Record<
      AttentionKind,
      number
    >;
  }

  /** The number of the latest event of all items that is older than `seconds`, from which `changedItems` continues. */
  latestEvent(seconds: number): Promise<number> {
    return this.items.latestEvent(seconds);
  }

  /**
   * The items of further events, each with the number of its event. An event may become visible after one with a higher
   * number, so the caller repeats its reading from a lower number and names the events that it has seen.
   */
  async changedItems(
    after: number,
    seen: readonly number[],
    limit: number,
  ): Promise<{ eventNo: number; item: AttentionItem }[]> {
    const rows = await this.items.itemsOfEvents(after, seen, limit);
    return rows.map(({ eventNo, ...item }) => ({ eventNo, item: attentionItem(item) }));
  }

  /** @throws CroupierError NOT_FOUND */
  async find(id: string): Promise<AttentionResponse> {
    await this.items.wake();
    const item = await this.items.find(id);
    if (!item) throw new CroupierError('NOT_FOUND', UNKNOWN);
    return attentionResponse(item, await this.items.events(id));
  }

  /**
   * Snoozes the item, which becomes OPEN again at the time `until`.
   * @throws CroupierError INVALID_REQUEST if `until` is not in the future · NOT_FOUND · CONFLICT if the item is closed
   */
  async snooze(actor: Actor, id: string, until: string): Promise<AttentionResponse> {
    return this.change(actor, id, 'snooze', this.endOfSnooze(until));
  }

  /** @throws CroupierError INVALID_REQUEST if `until` is not in the future */
  async snoozeSeveral(actor: Actor, ids: readonly string[], until: string): Promise<SeveralItemsResponse> {
    return this.changeSeveral(actor, ids, 'snooze', this.endOfSnooze(until));
  }

  /**
   * Assigns an item, comments on it or closes it. No new item is opened as long as the cause of a closed item is present.
   * @param value the assignee (null removes the assignment), the comment, or the reason for closing
   * @throws CroupierError NOT_FOUND · CONFLICT if the item is closed, except for a comment
   */
  async change(actor: Actor, id: string, verb: Verb, value: string | null): Promise<AttentionResponse> {
    await this.find(id);
    if (!(await this.tryChange(actor, id, verb, value))) throw new CroupierError('CONFLICT', CLOSED);
    return this.find(id);
  }

  /**
   * Changes the items one after the other. Each change is a transaction of its own with its audit entry, so that other
   * appends to the audit log need not wait for all of them. If the call fails halfway, its repetition does the rest.
   * @throws CroupierError OVERLOADED: before any item is changed, or if a further change has waited for a minute
   */
  async changeSeveral(
    actor: Actor,
    ids: readonly string[],
    verb: Verb,
    value: string | null,
  ): Promise<SeveralItemsResponse> {
    await this.items.wake();
    const answer: SeveralItemsResponse = { done: [], skipped: [] };
    for (const id of ids) {
      const stage = answer.done.length === 0 ? 'request' : 'begun';
      if (await this.tryChange(actor, id, verb, value, stage)) answer.done.push(id);
      else answer.skipped.push({ id, error: (await this.items.find(id)) ? CLOSED : UNKNOWN });
    }
    return answer;
  }

  /** @returns false if the item does not exist, or is closed and the change requires an open one */
  private tryChange(
    actor: Actor,
    id: string,
    verb: Verb,
    value: string | null,
    stage?: Stage,
  ): Promise<boolean> {
    const change = async ({ query }: Transaction, record: RecordEntry) => {
      const written = await this.items.change(query, id, verb, actor, value);
      const after = { [RECORDED[verb]]: value };
      if (written) await record({ action: `attention.${verb}`, target: `attention:${id}`, after });
      return written;
    };
    return this.audit.change(actor, change, stage);
  }

  private endOfSnooze(until: string): string {
    return futureInstant('until', until, this.databaseClock.now()).toISOString();
  }
}
