import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { Response } from 'express';
import { Administrators } from '../admin/administrators.service.js';
import { holds, type Role } from '../admin/role.js';
import { overloaded } from '../errors/try-later.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Metrics } from '../observability/metrics.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { monotonicMs } from '../runtime/clock.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { Changes, type LiveEvent } from './changes.js';
import { Overview } from './overview.service.js';
import { Reader } from './reader.js';

/** The role that a reader needs for the whole stream. */
export const STREAM_ROLE: Role = 'auditor';

/** Interval at which changes are looked for while there are readers, in milliseconds. */
const POLL_MS = 1_000;
/** Shortest time between two overviews to a reader, in milliseconds. Contract, section 9, "Live view". */
const OVERVIEW_MS = 5_000;
/** Interval of the comments that show that the stream is alive, in milliseconds. */
const COMMENT_MS = 15_000;
/** Age at which the check of a credential is repeated, in milliseconds, so that a stream ends within 5 s of its key. */
const CHECK_MS = 3_000;
/** How long a credential is trusted if it cannot be checked while the database is unavailable, in milliseconds. */
const TRUSTED_MS = 10_000;
/** How many credentials are checked at once: few enough to leave most connections of the pool to requests. */
const CHECKED_AT_ONCE = 8;
/**
 * Maximum number of streams at an instance, and of one administrator, who may have many tokens: each takes a connection,
 * and memory until it is read.
 */
const MAX_STREAMS = 500;
const MAX_STREAMS_OF_ONE = 250;
const RETRY_AFTER_SECONDS = 5;
/** How long a stop waits for a pass in progress, in milliseconds. Nothing depends on it. */
const STOP_MS = 1_000;

/**
 * Sends server-sent events to readers. One loop reads for all readers of this instance, so that the load on the database
 * does not depend on their number. Contract, section 9, "Live view".
 */
@Injectable()
export class LiveStream implements OnModuleDestroy {
  private readonly logger = new Logger('LiveStream');
  private readonly cutOffs = new BoundedLogger('LiveStream');
  private readonly readers = new Set<Reader>();
  /** The administrators whose streams have not begun. */
  private readonly opening: string[] = [];
  /** The monotonic time at which each reader's credential was last found valid. */
  private readonly checkedMs = new Map<string, number>();
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly changes: Changes,
    private readonly overview: Overview,
    private readonly administrators: Administrators,
    private readonly lifecycle: Lifecycle,
    metrics: Metrics,
    background: Background,
  ) {
    this.loop = background.add({
      name: 'send events to the readers of the live view',
      intervalMs: POLL_MS,
      stopMs: STOP_MS,
      work: () => this.pass(),
      onError: (detail) => this.logger.warn({ msg: 'the streams of the live view get no events', detail }),
    });
    metrics.addGauge({
      name: 'croupier_streams',
      help: 'Open streams of the live view',
      read: () => Promise.resolve([{ value: this.readers.size }]),
    });
  }

  onModuleDestroy(): void {
    this.endAll();
  }

  /**
   * Sends the overview and then events, until the reader disconnects, its credential ends or the instance stops.
   * @param actor the administrator's identifier
   * @param credential the guard has just found it valid
   * @throws CroupierError OVERLOADED if there are too many streams, or the instance is stopping
   */
  async open(actor: string, credential: string, response: Response): Promise<void> {
    this.admit(actor);
    this.opening.push(actor);
    try {
      // Otherwise a change between now and the first reading would be lost.
      if (!this.changes.begun) await this.loop.run();
      const overview = await this.overviewEvent();
      if (this.lifecycle.stopping) throw overloaded(RETRY_AFTER_SECONDS);
      if (!response.destroyed) this.begin(new Reader(actor, credential, response), response, overview);
    } finally {
      this.opening.splice(this.opening.indexOf(actor), 1);
    }
  }

  private admit(actor: string): void {
    const open = [...this.opening, ...[...this.readers].map((reader) => reader.actor)];
    const ofOne = open.filter((other) => other === actor).length;
    if (this.lifecycle.stopping || open.length >= MAX_STREAMS || ofOne >= MAX_STREAMS_OF_ONE)
      throw overloaded(RETRY_AFTER_SECONDS);
  }

  private begin(reader: Reader, response: Response, overview: Buffer): void {
    reader.begin();
    reader.sendOverview(overview);
    // HEAD has the same route as GET, but its answer ends with the headers.
    if (response.req.method === 'HEAD') return reader.end();
    if (!this.checkedMs.has(reader.credential)) this.checkedMs.set(reader.credential, monotonicMs());
    this.readers.add(reader);
    response.once('close', () => this.readers.delete(reader));
  }

  private async pass(): Promise<void> {
    if (this.lifecycle.stopping) return this.endAll();
    if (this.readers.size + this.opening.length === 0) return this.changes.reset();
    this.cutOff();
    this.comment();
    await this.endRefused();
    const events = await this.changes.read();
    if (events.length > 0) this.sendAll(bytesOf(events));
    await this.sendOverviews();
  }

  /** Cuts off the readers that do not read, so that what waits for them takes no more memory. */
  private cutOff(): void {
    for (const reader of this.readers) {
      if (!reader.doesNotRead) continue;
      this.readers.delete(reader);
      reader.cutOff();
      this.cutOffs.warn({ msg: 'a stream of the live view was cut off, because its client does not read' });
    }
  }

  /** Ends the streams whose credential is no longer valid or has lost the role. Each credential is checked once. */
  private async endRefused(): Promise<void> {
    const credentials = new Set([...this.readers].map(({ credential }) => credential));
    for (const credential of this.checkedMs.keys()) {
      if (!credentials.has(credential)) this.checkedMs.delete(credential);
    }
    const pass = { databaseIsAway: false };
    // The checks take turns with one iterator.
    const unchecked = credentials.values();
    const check = async () => {
      for (const credential of unchecked) {
        if (await this.isAccepted(credential, pass)) continue;
        for (const reader of this.readers) if (reader.credential === credential) this.end(reader);
      }
    };
    await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, check));
  }

  /** @param pass after one look-up has failed, the keys that follow do not wait for the database either */
  private async isAccepted(credential: string, pass: { databaseIsAway: boolean }): Promise<boolean> {
    const agoMs = () => monotonicMs() - (this.checkedMs.get(credential) ?? -Infinity);
    if (agoMs() < CHECK_MS) return true;
    const isLookedUp = this.administrators.isLookedUp(credential);
    if (isLookedUp && pass.databaseIsAway) return agoMs() < TRUSTED_MS;
    try {
      const administrator = await this.administrators.identify(credential);
      if (!administrator || !holds(administrator.roles, STREAM_ROLE)) return false;
      this.checkedMs.set(credential, monotonicMs());
      return true;
    } catch {
      if (isLookedUp) pass.databaseIsAway = true;
      return agoMs() < TRUSTED_MS;
    }
  }

  private async sendOverviews(): Promise<void> {
    const due = [...this.readers].filter(({ overviewAgoMs }) => overviewAgoMs >= OVERVIEW_MS);
    if (due.length === 0) return;
    const overview = await this.overviewEvent();
    for (const reader of due) if (this.readers.has(reader)) reader.sendOverview(overview);
  }

  private async overviewEvent(): Promise<Buffer> {
    return bytesOf([{ event: 'overview', data: await this.overview.read() }]);
  }

  private sendAll(bytes: Buffer): void {
    for (const reader of this.readers) reader.send(bytes);
  }

  private comment(): void {
    for (const reader of this.readers) if (reader.commentAgoMs >= COMMENT_MS) reader.sendComment();
  }

  private endAll(): void {
    for (const reader of this.readers) this.end(reader);
  }

  private end(reader: Reader): void {
    this.readers.delete(reader);
    reader.end();
  }
}

/** Events as the stream has them. JSON has no line breaks, so the data of each is one line. */
function bytesOf(events: readonly LiveEvent[]): Buffer {
  const texts = events.map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  return Buffer.from(texts.join(''));
}
