import { Injectable } from '@nestjs/common';
import { ApprovalsService } from '../approvals/approvals.service.js';
import { AttentionService } from '../attention/attention.service.js';
import { BatchesService } from '../free-spins/batches/batches.service.js';
import { monotonicMs } from '../runtime/clock.js';

/** Maximum number of attention events that one reading takes; the next reading continues. */
const EVENTS_READ = 200;
/**
 * How long an attention event may become visible after one with a higher number, in milliseconds: the longest time that
 * its database transaction may take. Readings repeat this time.
 */
const LATE_MS = 5_000;

/** An event of the stream: its name, and the data as JSON. */
export interface LiveEvent {
  readonly event: 'overview' | 'attention' | 'approval' | 'batch';
  readonly data: object;
}

/** What the previous reading found. */
interface Seen {
  /** Every attention event up to this number has been read. */
  attentionUpTo: number;
  /** The numbers of later attention events that have been read, with the monotonic time of the reading. */
  readonly attention: Map<number, number>;
  /** The states of the approvals that wait or are recent. */
  approvals: ReadonlyMap<string, string>;
  /** The counts of the batches that run, as JSON. */
  batches: ReadonlyMap<string, string>;
}

/** Finds what has changed since the previous reading, at whichever instance, by a few bounded statements. */
@Injectable()
export class Changes {
  /** Undefined before the first reading, which only learns what is there. */
  private seen: Seen | undefined;

  constructor(
    private readonly attention: AttentionService,
    private readonly approvals: ApprovalsService,
    private readonly batches: BatchesService,
  ) {}

  get begun(): boolean {
    return this.seen !== undefined;
  }

  /** Lets the next reading be the first one again, because nobody needs what changes until then. */
  reset(): void {
    this.seen = undefined;
  }

  async read(): Promise<LiveEvent[]> {
    const first = this.seen === undefined;
    const seen = (this.seen ??= {
      attentionUpTo: await this.attention.latestEvent(),
      attention: new Map(),
      approvals: new Map(),
      batches: new Map(),
    });
    const attention = await this.changedItems(seen);
    const approvals = await this.changedApprovals(seen, first);
    const batches = await this.changedBatches(seen);
    return first ? [] : [...attention, ...approvals, ...batches];
  }

  /** Each item once, as it is now, however many events it had. */
  private async changedItems(seen: Seen): Promise<LiveEvent[]> {
    const numbers = [...seen.attention.keys()];
    const changed = await this.attention.changedItems(seen.attentionUpTo, numbers, EVENTS_READ);
    const nowMs = monotonicMs();
    for (const { eventNo } of changed) seen.attention.set(eventNo, nowMs);
    for (const [eventNo, atMs] of seen.attention) {
      if (nowMs - atMs < LATE_MS) continue;
      seen.attentionUpTo = Math.max(seen.attentionUpTo, eventNo);
      seen.attention.delete(eventNo);
    }
    const items = new Map(changed.map(({ item }) => [item.id, item]));
    return [...items.values()].map((data) => ({ event: 'attention', data }));
  }

  private async changedApprovals(seen: Seen, first: boolean): Promise<LiveEvent[]> {
    const waiting = [...seen.approvals].filter(([, state]) => state === 'WAITING').map(([id]) => id);
    const states = await this.approvals.states(waiting);
    const changed = states.filter(({ approvalId, state }) => seen.approvals.get(approvalId) !== state);
    seen.approvals = new Map(states.map(({ approvalId, state }) => [approvalId, state]));
    if (first || changed.length === 0) return [];
    const items = await this.approvals.items(changed.map(({ approvalId }) => approvalId));
    return items.map((data) => ({ event: 'approval', data }));
  }

  private async changedBatches(seen: Seen): Promise<LiveEvent[]> {
    const read = await this.batches.running([...seen.batches.keys()]);
    const counted = read.map(({ batch, running }) => ({ batch, running, json: JSON.stringify(batch) }));
    const changed = counted.filter(({ batch, json }) => seen.batches.get(batch.batchId) !== json);
    const running = counted.filter((each) => each.running);
    seen.batches = new Map(running.map(({ batch, json }) => [batch.batchId, json]));
    return changed.map(({ batch }) => ({ event: 'batch', data: batch }));
  }
}
