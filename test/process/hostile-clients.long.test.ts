import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../world/patience.js';
import { BuiltService } from './built-service.js';

const CONNECTIONS = 20;
/** Number of requests in one write, which together have 108 kB. */
const PIPELINED = 3_000;
/** The allowed number of unanswered requests, so that the connections stay open. */
const HELD = 16;
const SAMPLES = 50;
/** The target is 250 ms; other tests run beside this one. Without a bound on unread answers it takes far longer. */
const P99_MS = 3_000;
/** With garbage that is not yet collected. */
const MEMORY_BYTES = 128 * 1024 * 1024;

describe('twenty connections that request documents and read no answer', () => {
  let service: BuiltService;
  let hostile: Socket[] = [];

  beforeAll(async () => {
    // The wallet answers from this process, which is busy with reading, too.
    service = await BuiltService.create({ OPERATOR_TIMEOUT_MS: '5000', TRANSACTION_LEASE_SECONDS: '6' });
  });
  afterEach(() => {
    for (const socket of hostile) socket.destroy();
    hostile = [];
  });
  afterAll(() => service.remove());

  /** @param times requests in one write */
  function pipeline(path: string, times: number): void {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    for (let n = 0; n < CONNECTIONS; n += 1) {
      const socket = connect(service.port, '127.0.0.1', () => socket.write(request.repeat(times)));
      hostile.push(socket.pause().on('error', () => undefined));
    }
  }

  async function memoryBytes(): Promise<{ rss: number; heap: number }> {
    const read = async () => (await fetch(`${service.url}/metrics`)).text();
    // An answer may be a second old; each reading differs from the one before.
    const stale = await read();
    let metrics = stale;
    await until(async () => (metrics = await read()) !== stale);
    const gauge = (name: string) => Number(new RegExp(`^croupier_${name} (\\S+)$`, 'm').exec(metrics)![1]);
    return { rss: gauge('process_resident_memory_bytes'), heap: gauge('nodejs_heap_size_used_bytes') };
  }

  async function p99Ms(work: () => Promise<unknown>): Promise<number> {
    const durations: number[] = [];
    for (let n = 0; n < SAMPLES; n += 1) {
      const began = performance.now();
      await work();
      durations.push(performance.now() - began);
    }
    return durations.sort((a, b) => a - b)[Math.ceil(SAMPLES * 0.99) - 1]!;
  }

  async function live(): Promise<void> {
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  }

  test.each([
    ['/docs-yaml', HELD],
    ['/docs-json', PIPELINED],
  ])('%s, %i times at once: others are served, and memory does not grow', async (path, times) => {
    const bets = await Promise.all(Array.from({ length: SAMPLES }, () => service.bet()));
    await Promise.all([p99Ms(live), service.submit(await service.bet())]);
    const before = await memoryBytes();
    pipeline(path, times);
    const [liveMs, betMs] = await Promise.all([
      p99Ms(live),
      p99Ms(async () => {
        expect((await service.submit(bets.pop()!)).json).toMatchObject({ status: 'APPROVED' });
      }),
    ]);
    const after = await memoryBytes();
    expect(liveMs).toBeLessThan(P99_MS);
    expect(betMs).toBeLessThan(P99_MS);
    expect(after.rss - before.rss).toBeLessThan(MEMORY_BYTES);
    expect(after.heap - before.heap).toBeLessThan(MEMORY_BYTES);
  });
});
