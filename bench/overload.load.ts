import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, percentile, type PreparedRequest } from './load.js';
import { memoryOf } from './usage.js';

/** What was measured during a load. */
export interface LoadResult {
  /** Number of answers with status 200 per second, between the lead-in and the end. */
  readonly goodput: number;
  /** Milliseconds from sending a request to its 200. */
  readonly p50: number;
  readonly p99: number;
  /** All answers by status or error code. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Milliseconds of concurrent `GET /health/live` calls, over their own connection. */
  readonly liveP50: number;
  readonly liveMax: number;
  /** Largest resident memory of the server during the load. */
  readonly memoryMiB: number;
}

interface LoadPlan {
  readonly port: number;
  readonly pid: number;
  readonly connections: number;
  /** Arrivals per second in an open loop; undefined for a closed loop. */
  readonly perSecond?: number;
  /** Time before the measurement. */
  readonly leadInSeconds: number;
  /** The measured time. */
  readonly seconds: number;
  readonly request: (n: number) => PreparedRequest;
}

const LIVE = Buffer.from('GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
const LOOK_EVERY_MS = 50;

/** Sends requests at a fixed rate, or one after the other, and counts the answers. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const { port, pid, connections: count, perSecond, leadInSeconds, seconds, request } = plan;
  const connections: Connection[] = [];
  // At most 100 connections are opened at a time, because the server's listen queue is short.
  for (let opened = 0; opened < count; opened += 100) {
    const some = Array.from({ length: Math.min(100, count - opened) }, () => Connection.open(port));
    connections.push(...(await Promise.all(some)));
  }
  const live = await Connection.open(port);
  const stock = Array.from({ length: Math.ceil((perSecond ?? 0) * (leadInSeconds + seconds)) }, (_, n) =>
    request(n),
  );
  const started = performance.now();
  const from = started + leadInSeconds * 1000;
  const until = from + seconds * 1000;
  const latencies: number[] = [];
  const outcomes: Record<string, number> = {};
  let sent = 0;

  const exchange = async (connection: Connection): Promise<void> => {
    const next = stock[sent] ?? request(sent);
    sent += 1;
    const sentAt = performance.now();
    const reply = await connection.send(next.bytes);
    const now = performance.now();
    const outcome =
      reply.status === 200
        ? '200'
        : (/^x-error-code: *(.*)$/im.exec(reply.head)?.[1] ?? String(reply.status));
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (outcome === '200' && now >= from && now < until) latencies.push(now - sentAt);
  };
  /** Whether the next request is due. In a closed loop it always is. */
  const due = () => perSecond === undefined || sent < ((performance.now() - started) / 1000) * perSecond;
  const idle: (() => void)[] = [];
  const wake = setInterval(() => {
    while (idle.length > 0 && due()) idle.pop()?.();
  }, 1);
  const work = connections.map(async (connection) => {
    while (performance.now() < until) {
      if (due()) await exchange(connection);
      else await new Promise<void>((resolve) => idle.push(resolve));
    }
  });
  const liveLatencies: number[] = [];
  let memory = 0;
  const watching = (async () => {
    while (performance.now() < until) {
      const sentAt = performance.now();
      await live.send(LIVE);
      liveLatencies.push(performance.now() - sentAt);
      memory = Math.max(memory, await memoryOf(pid));
      await sleep(LOOK_EVERY_MS);
    }
  })();
  void Promise.all(work).catch(() => undefined);
  await sleep(until - performance.now());
  await watching;
  clearInterval(wake);
  for (const connection of connections) connection.close();
  live.close();
  const sorted = Float64Array.from(latencies).sort();
  const sortedLive = Float64Array.from(liveLatencies).sort();
  return {
    goodput: latencies.length / seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    outcomes,
    liveP50: percentile(sortedLive, 0.5),
    liveMax: percentile(sortedLive, 1),
    memoryMiB: memory / 2 ** 20,
  };
}

/** Sends new requests over each connection, pausing for an answer's `Retry-After`, until it is stopped. */
export async function occupy(
  port: number,
  connections: number,
  request: (n: number) => PreparedRequest,
): Promise<{ stop: () => void }> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  let stopped = false;
  let sent = 0;
  for (const connection of open) {
    void (async () => {
      while (!stopped) {
        const reply = await connection.send(request((sent += 1)).bytes);
        await sleep(1000 * Number(/^retry-after: *(\d+)/im.exec(reply.head)?.[1] ?? 0));
      }
    })().catch(() => undefined);
  }
  return {
    stop: () => {
      stopped = true;
      for (const connection of open) connection.close();
    },
  };
}
