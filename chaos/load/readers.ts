import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_KEY, type World } from '../world.js';

/** How long a reader waits before it connects or asks again, in milliseconds. */
const AGAIN_MS = 1000;
/** How long a reader waits for the next byte, in milliseconds: two intervals of the stream's comments. */
const SILENCE_MS = 30_000;

/** The fields of the console's overview that the database also has. */
export interface Overview {
  readonly at: string;
  readonly operators: readonly Undecided[];
  readonly providers: readonly Undecided[];
  readonly parked: number;
  readonly approvalsWaiting: number;
  readonly attention: Readonly<Record<string, number>>;
  readonly instances: readonly { readonly ready: boolean }[];
}

interface Undecided {
  readonly id: string;
  readonly undecided: number;
}

export interface ReaderCounts {
  overviews: number;
  streams: number;
  /** Streams that were opened by a reader that had followed one before. */
  returns: number;
}

/** An answer to a reader with another status than 200. The times are Unix milliseconds. */
export interface Refusal {
  readonly route: 'stream' | 'overview';
  readonly instance: number;
  readonly status: number;
  /** The answer's `X-Error-Code`. */
  readonly code: string | undefined;
  readonly asked: number;
  readonly answered: number;
}

/** A reader of the overview at one instance, either by its stream or by asking again and again. */
class Reader {
  /** The latest overview. */
  last: Overview | undefined;
  private followed = false;
  private away = false;
  private stalled = false;
  private stopped = false;
  private response: IncomingMessage | undefined;

  constructor(
    private readonly world: World,
    readonly instance: number,
    private readonly route: 'stream' | 'overview',
    private readonly counts: ReaderCounts,
    private readonly refusals: Refusal[],
  ) {}

  async read(): Promise<void> {
    while (!this.stopped) {
      if (!this.away) await this.readOnce();
      await sleep(AGAIN_MS);
    }
  }

  leave(): void {
    this.away = true;
    this.response?.destroy();
  }

  comeBack(): void {
    this.away = false;
  }

  stall(): void {
    this.stalled = true;
    this.response?.pause();
  }

  goOn(): void {
    this.stalled = false;
    this.response?.resume();
  }

  stop(): void {
    this.stopped = true;
    this.response?.destroy();
  }

  private readOnce(): Promise<void> {
    return new Promise((resolve) => {
      const asked = Date.now();
      const call = request({
        host: '127.0.0.1',
        port: this.world.clientPort(this.instance),
        path: `/v1/admin/${this.route}`,
        headers: { Authorization: `Bearer ${ADMIN_KEY}` },
        agent: false,
      });
      call.setTimeout(SILENCE_MS, () => call.destroy());
      call.on('error', () => undefined);
      call.on('close', () => resolve());
      call.on('response', (response) => this.receive(response, asked));
      call.end();
    });
  }

  private receive(response: IncomingMessage, asked: number): void {
    response.on('error', () => undefined);
    if (this.away || this.stopped) {
      response.destroy();
      return;
    }
    this.response = response;
    const { statusCode = 0 } = response;
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      text += part;
      if (statusCode === 200 && this.route === 'stream') text = this.readEvents(text);
    });
    response.on('end', () => {
      if (statusCode === 200 && this.route === 'overview') this.take(text);
    });
    if (statusCode === 200) this.countOpened();
    else this.refused(response, asked);
    if (this.stalled) response.pause();
  }

  private countOpened(): void {
    if (this.route === 'overview') return;
    this.counts.streams += 1;
    if (this.followed) this.counts.returns += 1;
    this.followed = true;
  }

  private refused({ statusCode: status = 0, headers }: IncomingMessage, asked: number): void {
    const { route, instance } = this;
    const code = headers['x-error-code']?.toString();
    this.refusals.push({ route, instance, status, code, asked, answered: Date.now() });
  }

  /** @returns what follows the last complete event */
  private readEvents(text: string): string {
    const events = text.split('\n\n');
    const rest = events.pop() ?? '';
    for (const event of events) {
      const overview = /^event: overview\ndata: (.*)$/.exec(event);
      if (overview) this.take(overview[1]!);
    }
    return rest;
  }

  private take(json: string): void {
    this.last = JSON.parse(json) as Overview;
    this.counts.overviews += 1;
  }
}

/** Readers of the console at every instance, as many people watch what happens. */
export class Readers {
  readonly counts: ReaderCounts = { overviews: 0, streams: 0, returns: 0 };
  readonly refusals: Refusal[] = [];
  /** At each instance: those that follow the stream, and then one that asks for the overview. */
  private readonly readers: readonly (readonly Reader[])[];

  /** @param following number of readers that follow the stream at each instance, at least 2 */
  constructor(world: World, following: number) {
    const reader = (instance: number, route: 'stream' | 'overview') =>
      new Reader(world, instance, route, this.counts, this.refusals);
    this.readers = world.instances.map(({ number }) => [
      ...Array.from({ length: following }, () => reader(number, 'stream')),
      reader(number, 'overview'),
    ]);
  }

  start(): void {
    for (const reader of this.readers.flat()) void reader.read();
  }

  /** All but one of an instance's readers disconnect, and return. */
  async leave(instance: number, forMs: number): Promise<void> {
    const leaving = this.readers[instance]!.slice(1);
    for (const reader of leaving) reader.leave();
    await sleep(forMs);
    for (const reader of leaving) reader.comeBack();
  }

  /** A reader of an instance's stream takes nothing more from its connection for a while. */
  async stall(instance: number, forMs: number): Promise<void> {
    const reader = this.readers[instance]![0]!;
    reader.stall();
    await sleep(forMs);
    reader.goOn();
  }

  /** The latest overview of each reader. */
  latest(): { instance: number; overview: Overview | undefined }[] {
    return this.readers.flat().map(({ instance, last }) => ({ instance, overview: last }));
  }

  heal(): void {
    for (const reader of this.readers.flat()) {
      reader.comeBack();
      reader.goOn();
    }
  }

  stop(): void {
    for (const reader of this.readers.flat()) reader.stop();
  }
}
