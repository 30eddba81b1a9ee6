import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import type { ListQuery } from '../api/lists/page.js';
import { Database, type Query } from '../database/database.js';
import type { Place } from '../database/place.js';
import { type TimeOrderedTable, timeOrderedPage } from '../database/time-ordered.js';
import type { AttentionKind, AttentionState, Cause } from './attention.js';
import type { AttentionQuery } from './attention.request.js';
import type { Attention, AttentionEvent } from './attention.response.js';
import * as sql from './attention.sql.js';

export type AttentionFilter = Omit<AttentionQuery, keyof ListQuery>;

/** Maximum number of items that one statement opens. */
const BATCH = 500;
/** Maximum number of events that are shown for an item; older ones are left out. */
const EVENTS_SHOWN = 500;

const TABLE: TimeOrderedTable = {
  columns: sql.ITEM_COLUMNS,
  from: 'attention_items',
  id: 'item_id',
  idType: 'uuid',
};

/**
 * One page, newest first. The first filter determines the index. Few items are OPEN or SNOOZED, so a filter by one of
 * these states comes first. Most items are CLOSED, so a filter by this state comes last.
 */
export function attentionPage(filter: AttentionFilter, before: Place | undefined, limit: number) {
  const { kind, state, assignee, operatorId, providerId, from, to } = filter;
  const others = { assignee, operator_id: operatorId, provider_id: providerId, kind };
  const equal = state === 'CLOSED' ? { ...others, state } : { state, ...others };
  return timeOrderedPage(TABLE, equal, { from, to, before }, limit);
}

/**
 * Opens an item for each cause that has none.
 * @param by the actor that opens the items, as the history of each new item shows it
 * @returns the number of opened items
 */
export async function openItems(query: Query, causes: readonly Cause[], by: string): Promise<number> {
  let opened = 0;
  for (let at = 0; at < causes.length; at += BATCH) {
    const rows = await query(sql.OPEN, { causes: JSON.stringify(causes.slice(at, at + BATCH)), by });
    opened += rows.length;
  }
  return opened;
}

@Injectable()
export class AttentionStore {
  constructor(private readonly database: Database) {}

  /** Opens an item for each cause that has none. */
  async open(causes: readonly Cause[]): Promise<void> {
    await openItems(this.database.query, causes, sql.PLATFORM_ACTOR);
  }

  async markParked(causes: readonly Cause[]): Promise<void> {
    if (causes.length === 0) return;
    await this.database.query(sql.MARK_PARKED, { causes: JSON.stringify(causes) });
  }

  async end(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.database.query(sql.END, { ids });
  }

  async endOtherRounds(providerId: string, subjects: readonly string[]): Promise<void> {
    await this.database.query(sql.END_OTHER_ROUNDS, { providerId, subjects });
  }

  async countAgain(cause: Cause): Promise<void> {
    await this.database.query(sql.COUNT_AGAIN, cause);
  }

  /** @param after the last subject of the previous page; undefined for the first page */
  present(kind: AttentionKind, after = '', limit: number): Promise<{ id: string; subject: string }[]> {
    return this.database.query(sql.PRESENT, { kind, after, limit });
  }

  /** Whether no run was claimed or recorded less than `seconds` ago. */
  async isScanDue(name: string, seconds: number): Promise<boolean> {
    const [row] = await this.database.query<{ due: boolean }>(sql.IS_SCAN_DUE, { name, seconds });
    return row!.due;
  }

  /** Records that a run is in progress, or has ended, now. */
  async recordScan(name: string): Promise<void> {
    await this.claimScan(name, 0);
  }

  /**
   * Claims a run, unless any instance claimed or recorded one less than `seconds` ago.
   * @param own the latest claim of this instance; while it is the latest of all, `own.seconds` replaces `seconds`
   * @returns the claim; undefined if there is none
   */
  async claimScan(
    name: string,
    seconds: number,
    own: { readonly claim: string | undefined; readonly seconds: number } = { claim: undefined, seconds },
  ): Promise<string | undefined> {
    const values = { name, seconds, ownClaim: own.claim, ownSeconds: own.seconds };
    const [claimed] = await this.database.query<{ claim: string }>(sql.CLAIM_SCAN, values);
    return claimed?.claim;
  }

  async wake(): Promise<void> {
    await this.database.query(sql.WAKE, {});
  }

  /** Newest first. */
  page(
    filter: AttentionFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<(Attention & { place: string })[]> {
    const { statement, values } = attentionPage(filter, before, limit);
    return this.database.query(statement, values);
  }

  async find(id: string): Promise<Attention | undefined> {
    return (await this.database.query<Attention>(sql.FIND, { id }))[0];
  }

  /** Oldest first. */
  events(id: string): Promise<AttentionEvent[]> {
    return this.database.query(sql.EVENTS, { id, limit: EVENTS_SHOWN });
  }

  /**
   * @param value the assignee, the reason, the end of the snooze or the comment
   * @returns false if the item does not exist, or is closed and the change requires an open one
   */
  async change(
    query: Query,
    id: string,
    change: keyof typeof sql.CHANGES,
    { actor, name: actorName }: Actor,
    value: string | null,
  ): Promise<boolean> {
    return (await query(sql.CHANGES[change], { id, actor, actorName, value })).length > 0;
  }

  /** The number of the latest event of all items that is older than `seconds`; 0 if there is none. */
  async latestEvent(seconds: number): Promise<number> {
    const [row] = await this.database.query<{ eventNo: number }>(sql.LATEST_EVENT, { seconds });
    return row!.eventNo;
  }

  /** The items of the events with a number above `after` that are not in `seen`, in the order of their numbers. */
  itemsOfEvents(
    after: number,
    seen: readonly number[],
    limit: number,
  ): Promise<(Attention & { eventNo: number })[]> {
    return this.database.query(sql.ITEMS_OF_EVENTS, { after, seen, limit });
  }

  count(): Promise<{ kind: AttentionKind; state: AttentionState; value: number }[]> {
    return this.database.query(sql.COUNT, {});
  }
}
