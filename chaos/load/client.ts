import { randomUUID } from 'node:crypto';
import { signRequest } from '@croupier/provider-sdk';
import { Pool } from 'undici';
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
const FRESH_MS = 1000;
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

export interface Reply {
  readonly instance: number;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly text: string;
  readonly code: string | undefined;
  readonly nextAction: string | undefined;
  readonly replayed: boolean;
  /** The tool's own lag between the request and this reply, in milliseconds. */
  readonly lagMs: number;
}

class NoAnswer extends Error {
  readonly code = 'NO_ANSWER_IN_TIME';
}

/** A round-robin load balancer in front of the instances: each request goes to the next ready one that has room. */
export class Client {
  private readonly pools: Pool[];
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
    const options = { connections: null, headersTimeout: 0, bodyTimeout: 0 };
    this.pools = world.instances.map(
      ({ number }) => new Pool(`http://127.0.0.1:${world.clientPort(number)}`, options),
    );
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

  async send({ path, body, headers }: Signed, instance: number): Promise<Reply> {
    const sent = Date.now();
    const abort = new AbortController();
    const endPatience = this.afterPatience(() => abort.abort(new NoAnswer()));
    try {
      const call = { method: 'POST', path, body, headers, signal: abort.signal } as const;
      const answer = await this.pools[instance]!.request(call);
      const text = await answer.body.text();
      const header = (name: string) => answer.headers[name] as string | undefined;
      return {
        instance,
        status: answer.statusCode,
        text,
        code: header('x-error-code'),
        nextAction: header('x-next-action'),
        replayed: header('idempotency-replayed') === 'true',
        lagMs: this.lag.since(sent),
      };
    } catch (error) {
      const code = (error as { code?: string }).code ?? (error as Error).message;
      const lagMs = this.lag.since(sent);
      return { instance, status: 0, text: '', code, nextAction: undefined, replayed: false, lagMs };
    } finally {
      endPatience();
    }
  }

  async close(): Promise<void> {
    clearInterval(this.polling);
    await Promise.all(this.pools.map((pool) => pool.destroy()));
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
