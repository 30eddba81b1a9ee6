import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request as bytes, and its expected answer. */
export interface PreparedRequest {
  readonly bytes: Buffer;
  readonly accepts: (reply: Reply) => boolean;
}

export interface Reply {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface Run {
  readonly seconds: number;
  /** Milliseconds of each request, sorted. */
  readonly latencies: Float64Array;
  /** The number of requests that an open loop never sent; their latency is the time that they had waited at its end. */
  readonly unserved: number;
}

/** The requests of a load, shared by its connections. Those of one round are sent over one connection. */
export class Stock {
  private taken = 0;

  constructor(
    private readonly requests: readonly PreparedRequest[],
    private readonly roundLength = 1,
  ) {}

  /**
   * Takes the requests of one round.
   * @returns them in order; undefined if none is left
   */
  take(): readonly PreparedRequest[] | undefined {
    if (this.taken >= this.requests.length) return undefined;
    const first = this.taken;
    this.taken += this.roundLength;
    return this.requests.slice(first, this.taken);
  }
}

/** A kept-alive connection with one request at a time, and a minimal HTTP parser. */
export class Connection {
  private received: Buffer = Buffer.alloc(0);
  private answered: ((reply: Reply) => void) | undefined;
  private failed: ((error: Error) => void) | undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => this.take(chunk));
    socket.on('error', (error) => this.failed?.(error));
    socket.on('close', () => this.failed?.(new Error('the server closed a connection')));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Connection(socket)));
    });
  }

  send(bytes: Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.answered = resolve;
      this.failed = reject;
      // Data written to a closed socket is lost silently.
      if (this.socket.destroyed) reject(new Error('the server closed a connection'));
      else this.socket.write(bytes);
    });
  }

  close(): void {
    this.failed = undefined;
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.received.toString('latin1', 0, end);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) return this.failed?.(new Error(`an answer without a length:\n${head}`));
    const whole = end + 4 + Number(length);
    if (this.received.length < whole) return;
    const body = this.received.toString('utf8', end + 4, whole);
    this.received = this.received.subarray(whole);
    this.answered?.({ status: Number(head.slice(9, 12)), head, body });
  }
}

/** Longest time between two ticks of the generator before it counts as delayed, in milliseconds. */
const TICK_MS = 2;
/** How long an open loop continues with waiting requests after the last arrival, in milliseconds. */
const GRACE_MS = 1_000;

/** A load over a fixed number of connections to one server. */
export class Load {
  private constructor(private readonly connections: readonly Connection[]) {}

  static async open(port: number, connections: number): Promise<Load> {
    return new Load(await Promise.all(Array.from({ length: connections }, () => Connection.open(port))));
  }

  close(): void {
    for (const connection of this.connections) connection.close();
  }

  /**
   * Closed loop: each connection sends its next request when the last one is answered, until the time is over or no
   * prepared request is left. All requests are answered when it ends.
   * @throws Error at the first unexpected answer
   */
  async closed(stock: Stock, seconds: number): Promise<Run> {
    const latencies: number[] = [];
    const started = performance.now();
    const until = started + seconds * 1000;
    await Promise.all(
      this.connections.map(async (connection) => {
        while (performance.now() < until) {
          const round = stock.take();
          if (!round) return;
          for (const request of round) {
            const sent = performance.now();
            if (sent >= until) return;
            await exchange(connection, request);
            latencies.push(performance.now() - sent);
          }
        }
      }),
    );
    return runOf(latencies, 0, started);
  }

  /**
   * Open loop: requests arrive at a fixed rate, whether or not earlier ones were answered, so that a stall delays all
   * that arrive during it. Latency counts from the arrival: the generator's tick, or, if the tick was late because
   * another process had the CPU, the time at which the request was due.
   * @param perSecond arrivals
   */
  async open(stock: Stock, perSecond: number, seconds: number): Promise<Run> {
    const latencies: number[] = [];
    const idle = [...this.connections];
    const waiting: { request: PreparedRequest; arrived: number }[] = [];
    const underWay: Promise<void>[] = [];
    const arrivals = Math.round(perSecond * seconds);
    const started = performance.now();
    const until = started + seconds * 1000 + GRACE_MS;
    const drain = async (connection: Connection): Promise<void> => {
      while (waiting.length > 0 && performance.now() < until) {
        const { request, arrived } = waiting.shift()!;
        await exchange(connection, request);
        latencies.push(performance.now() - arrived);
      }
      idle.push(connection);
    };
    for (let arrived = 0, ticked = started; arrived < arrivals;) {
      const now = performance.now();
      const onTime = now - ticked <= TICK_MS;
      ticked = now;
      for (; arrived < arrivals; arrived += 1) {
        const due = started + (arrived * 1000) / perSecond;
        if (due > now) break;
        for (const request of stock.take() ?? []) waiting.push({ request, arrived: onTime ? now : due });
        const connection = idle.pop();
        if (connection) underWay.push(drain(connection));
      }
      await sleep(1);
    }
    await Promise.all(underWay);
    const ended = performance.now();
    latencies.push(...waiting.map(({ arrived }) => ended - arrived));
    return runOf(latencies, waiting.length, started);
  }
}

async function exchange(connection: Connection, request: PreparedRequest): Promise<void> {
  const reply = await connection.send(request.bytes);
  if (!request.accepts(reply)) throw new Error(`unexpected answer:\n${reply.head}\n\n${reply.body}`);
}

function runOf(latencies: readonly number[], unserved: number, started: number): Run {
  return {
    seconds: (performance.now() - started) / 1000,
    latencies: Float64Array.from(latencies).sort(),
    unserved,
  };
}

/** The percentile of the latencies, in milliseconds. */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
