import { Injectable } from '@nestjs/common';
import { ApprovalsService } from '../approvals/approvals.service.js';
import { AttentionService } from '../attention/attention.service.js';
import { BatchesService } from '../free-spins/batches/batches.service.js';
import { monotonicMs } from '../runtime/clock.js';

/** Maximum number of attention events that one reading takes; the next reading continues. */
const EVENTS_READ = 200;
/**
 * How long an attention event may become visible after one with a higher number, in milliseconds. A statement may take
 * 10 seconds, and the transaction that writes the event has several. Readings repeat this time.
 */
const LATE_MS = 30_000;

/** An event of the stream: its name, and the data as JSON. */
export interface LiveEvent {
  readonly event: 'overview' | 'attention' | 'approval' | 'batch';
  readonly data: object;
}

/** What the previous reading found. */
interface Seen {
  /** Every attention event up to this number has been read. */
  readonly attentionUpTo: number;
  /** The numbers of later attention events that have been read, with the monotonic time of the reading. */
  readonly attention: ReadonlyMap<number, number>;
  /** The states of the approvals that wait or are recent. */
  readonly approvals: ReadonlyMap<string, string>;
  /** The counts of the batches that run, as JSON. */
  readonly batches: ReadonlyMap<string, string>;
}

/** The events of a reading, and what it has seen with them. */
interface Changed<S> {
  readonly seen: S;
  readonly events: LiveEvent[];
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

  /** Forgets what was read, so that changes before the next reading are not reported. */
  reset(): void {
    this.seen = undefined;
  }

  async read(): Promise<LiveEvent[]> {
    const first = this.seen === undefined;
    const seen = this.seen ?? {
      // Later events are read once more, because one with a lower number may still become visible.
      attentionUpTo: await this.attention.latestEvent(LATE_MS / 1_000),
      attention: new Map<number, number>(),
      approvals: new Map<string, string>(),
      batches: new Map<string, string>(),
    };
    const attention = await this.changedItems(seen);
    const approvals = await this.changedApprovals(seen, first);
    const batches = await this.changedBatches(seen);
    // Only a whole reading counts: after a failure, the next one finds the same changes.
    this.seen = { ...attention.seen, approvals: approvals.seen, batches: batches.seen };
    return first ? [] : [...attention.events, ...approvals.events, ...batches.events];
  }

  /** Each item once, as it is now, however many events it had. */
  private async changedItems({
    attentionUpTo,
    attention,
  }: Seen): Promise<Changed<Pick<Seen, 'attentionUpTo' | 'attention'>>> {
    const changed = await this.attention.changedItems(attentionUpTo, [...attention.keys()], EVENTS_READ);
    const nowMs = monotonicMs();
    const read = [...attention, ...changed.map(({ eventNo }): [number, number] => [eventNo, nowMs])];
    const isOld = ([, atMs]: [number, number]) => nowMs - atMs >= LATE_MS;
    const upTo = read.filter(isOld).reduce((most, [eventNo]) => Math.max(most, eventNo), attentionUpTo);
    const items = new Map(changed.map(({ item }) => [item.id, item]));
    return {
      seen: { attentionUpTo: upTo, attention: new Map(read.filter((each) => !isOld(each))) },
      events: [...items.values()].map((data) => ({ event: 'attention', data })),
    };
  }

  private async changedApprovals(seen: Seen, first: boolean): Promise<Changed<Seen['approvals']>> {
    const waiting = [...seen.approvals].filter(([, state]) => state === 'WAITING').map(([id]) => id);
    const states = await this.approvals.states(waiting);
    const changed = states.filter(({ approvalId, state }) => seen.approvals.get(approvalId) !== state);
    const approvals = new Map(states.map(({ approvalId, state }) => [approvalId, state]));
    if (first || changed.length === 0) return { seen: approvals, events: [] };
    const items = await this.approvals.items(changed.map(({ approvalId }) => approvalId));
    return { seen: approvals, events: items.map((data) => ({ event: 'approval', data })) };
  }

  private async changedBatches(seen: Seen): Promise<Changed<Seen['batches']>> {
    const read = await this.batches.running([...seen.batches.keys()]);
    const counted = read.map(({ batch, running }) => ({ batch, running, json: JSON.stringify(batch) }));
    const changed = counted.filter(({ batch, json }) => seen.batches.get(batch.batchId) !== json);
    const running = counted.filter((each) => each.running);
    return {
      seen: new Map(running.map(({ batch, json }) => [batch.batchId, json])),
      events: changed.map(({ batch }) => ({ event: 'batch', data: batch })),
    };
  }
}
