import { randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { signRequest } from '@croupier/provider-sdk';
import type { World } from '../world.js';
import type { EventLoopLag } from './event-loop-lag.js';

/** Time-out of a client, in milliseconds, without the tool's own lag. */
export const PATIENCE_MS = 8000;
/** Maximum extension of the time-out because of the tool's own lag, in milliseconds. */
const MAX_EXTENSION_MS = 2000;
/** Polling interval for the readiness of the instances, in milliseconds. */
const READINESS_MS = 200;
/**
 * How long a report of readiness counts, in milliseconds. It is much shorter than SHUTDOWN_DELAY_MS, so a request that is
 * sent within this time reaches a stopping instance before its listener closes.
 */
export const FRESH_MS = 1000;
/**
 * Maximum number of requests under way at one instance. A suspended or stalled instance cannot hold more, so the others
 * continue at full speed.
 */
const IN_FLIGHT = 128;

export interface Signed {
  readonly path: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** What is known of a connection on which an answer did not arrive. */
export interface LostConnection {
  /** Whether the client waited until its patience ended, instead of the connection ending. */
  readonly silent: boolean;
  /** Whether it had carried an earlier request. */
  readonly reused: boolean;
  /** Whether it reached the instance. */
  readonly reached: boolean;
  /** Whether a part of the answer arrived. */
  readonly answerBegun: boolean;
}

export interface Reply {
  readonly instance: number;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly text: string;
  readonly code: string | undefined;
  readonly nextAction: string | undefined;
  readonly replayed: boolean;
  /** How the connection was lost; undefined if there was an answer. */
  readonly lost: LostConnection | undefined;
  /** The tool's own lag between the request and this reply, in milliseconds. */
  readonly lagMs: number;
}

class NoAnswer extends Error {
  readonly code = 'NO_ANSWER_IN_TIME';
}

/** The connection of a request, whose port and bytes must be known after it is lost. */
class WatchedConnection {
  /** Undefined if the connection was not established. */
  port: number | undefined;
  private socket: Socket | undefined;
  private bytesBefore = 0;

  watch(socket: Socket): void {
    this.socket = socket;
    this.bytesBefore = socket.bytesRead;
    const remember = () => (this.port = socket.localPort);
    if (socket.connecting) socket.once('connect', remember);
    else remember();
  }

  /** Whether a byte has arrived since the request was sent. */
  get hasReceived(): boolean {
    return (this.socket?.bytesRead ?? 0) > this.bytesBefore;
  }
}

/** A round-robin load balancer in front of the instances: each request goes to the next ready one that has room. */
export class Client {
  private readonly agents: Agent[];
  /** When each instance was last found ready, by performance.now(); 0 if its latest poll failed. */
  private readonly readyAt: number[];
  private readonly inFlight: number[];
  /** Requests that wait for room, the oldest first. */
  private readonly waiting: ((instance: number) => void)[] = [];
  private readonly polling: NodeJS.Timeout;
  private turn = 0;

  constructor(
    private readonly world: World,
    private readonly lag: EventLoopLag,
  ) {
    // The number of connections is not limited: a request that waited for a connection might be sent after its instance
    // has stopped.
    this.agents = world.instances.map(() => new Agent({ keepAlive: true, maxFreeSockets: IN_FLIGHT }));
    this.readyAt = world.instances.map(() => performance.now());
    this.inFlight = world.instances.map(() => 0);
    this.polling = setInterval(() => this.poll(), READINESS_MS);
  }

  sign(tenantId: string, path: string, content: object): Signed {
    const body = JSON.stringify(content);
    const secret = this.world.secrets.get(tenantId) ?? '';
    const call = {
      method: 'POST',
      path,
      body,
      tenantId,
      secret,
      nonce: randomUUID(),
      now: Date.now() / 1000,
    };
    return { path, body, headers: { 'content-type': 'application/json', ...signRequest(call) } };
  }

  /** Does some work with the next ready instance that has room; with an unready one only if none is ready. */
  async atNext<T>(work: (instance: number) => Promise<T>): Promise<T> {
    const instance = this.next() ?? (await new Promise<number>((resolve) => this.waiting.push(resolve)));
    try {
      return await work(instance);
    } finally {
      this.inFlight[instance]! -= 1;
      this.admitWaiting();
    }
  }

  /** Whether the instance was found ready recently: on a busy machine, the latest poll may be old. */
  saysReady(instance: number): boolean {
    return performance.now() - this.readyAt[instance]! < FRESH_MS;
  }

  send({ path, body, headers }: Signed, instance: number): Promise<Reply> {
    const sent = Date.now();
    const link = this.world.link('client', instance);
    return new Promise((resolve) => {
      const call = request({
        host: '127.0.0.1',
        port: link.port,
        method: 'POST',
        path,
        agent: this.agents[instance],
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      });
      const endPatience = this.afterPatience(() => call.destroy(new NoAnswer()));
      const connection = new WatchedConnection();
      const conclude = (
        found: Pick<Reply, 'status' | 'text' | 'code' | 'lost'>,
        answer?: IncomingMessage,
      ) => {
        endPatience();
        const header = (name: string) => answer?.headers[name] as string | undefined;
        resolve({
          ...found,
          instance,
          nextAction: header('x-next-action'),
          replayed: header('idempotency-replayed') === 'true',
          lagMs: this.lag.since(sent),
        });
      };
      const lose = (error: Error & { code?: string }) => {
        const lost = {
          silent: error instanceof NoAnswer,
          reused: call.reusedSocket,
          reached: connection.port !== undefined && link.reached(connection.port),
          answerBegun: connection.hasReceived,
        };
        conclude({ status: 0, text: '', code: error.code ?? error.message, lost });
      };
      call.once('socket', (socket) => connection.watch(socket));
      call.on('error', lose);
      call.once('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('error', lose);
        answer.once('end', () => {
          const code = answer.headers['x-error-code'] as string | undefined;
          conclude({ status: answer.statusCode ?? 0, text, code, lost: undefined }, answer);
        });
      });
      call.end(body);
    });
  }

  close(): void {
    clearInterval(this.polling);
    for (const agent of this.agents) agent.destroy();
  }

  /**
   * Gives up after `PATIENCE_MS`, and later by the tool's own lag in this time, in which it cannot notice an answer.
   * @returns stops waiting
   */
  private afterPatience(giveUp: () => void): () => void {
    const began = Date.now();
    const check = () => {
      const extensionMs = Math.min(this.lag.since(began), MAX_EXTENSION_MS);
      const leftMs = began + PATIENCE_MS + extensionMs - Date.now();
      if (leftMs > 0) timer = setTimeout(check, leftMs);
      else giveUp();
    };
    let timer = setTimeout(check, PATIENCE_MS);
    return () => clearTimeout(timer);
  }

  /** Takes a place at the next instance; undefined if none has room. */
  private next(): number | undefined {
    const count = this.readyAt.length;
    const noneReady = this.readyAt.every((at) => at === 0);
    for (let step = 1; step <= count; step += 1) {
      const instance = (this.turn + step) % count;
      const open = noneReady || this.readyAt[instance]! > 0;
      if (!open || this.inFlight[instance]! >= IN_FLIGHT) continue;
      this.turn = instance;
      this.inFlight[instance]! += 1;
      return instance;
    }
    return undefined;
  }

  private admitWaiting(): void {
    while (this.waiting.length > 0) {
      const instance = this.next();
      if (instance === undefined) return;
      this.waiting.shift()!(instance);
    }
  }

  private poll(): void {
    for (const { number } of this.world.instances) {
      const polledAt = performance.now();
      void this.world.ready(number).then((ready) => {
        this.readyAt[number] = ready ? polledAt : 0;
        this.admitWaiting();
      });
    }
  }
}
