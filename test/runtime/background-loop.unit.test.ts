import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BackgroundLoop, type BackgroundLoopOptions } from '../../src/runtime/background-loop.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work whose passes end when the test decides. */
function controlled() {
  const passes: { end(): void }[] = [];
  const work = () => new Promise<void>((resolve) => passes.push({ end: () => resolve() }));
  return { passes, work };
}

function loopOver(work: BackgroundLoopOptions['work'], options: Partial<BackgroundLoopOptions> = {}) {
  return { loop: new BackgroundLoop({ work, onError: () => undefined, intervalMs: 1_000, ...options }) };
}

test('the first pass comes after the first delay, the others at the interval', async () => {
  const work = vi.fn(() => Promise.resolve());
  const { loop } = loopOver(work, { firstAfterMs: 100 });
  loop.start();
  await vi.advanceTimersByTimeAsync(99);
  expect(work).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(work).toHaveBeenCalledTimes(3);
  await loop.stop(0);
});

test('without a first delay the first pass comes after the interval', async () => {
  const work = vi.fn(() => Promise.resolve());
  const { loop } = loopOver(work);
  loop.start();
  await vi.advanceTimersByTimeAsync(999);
  expect(work).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(1);
  await loop.stop(0);
});

test('a tick during a pass is dropped', async () => {
  const { passes, work } = controlled();
  const { loop } = loopOver(work);
  loop.start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(passes).toHaveLength(1);
  passes[0]!.end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(passes).toHaveLength(2);
  passes[1]!.end();
  await loop.stop(0);
});

test('requests during a pass share one pass that begins after it', async () => {
  const { passes, work } = controlled();
  const { loop } = loopOver(work);
  const first = loop.run();
  await vi.advanceTimersByTimeAsync(0);
  const [second, third] = [loop.run(), loop.run()];
  expect(passes).toHaveLength(1);
  passes[0]!.end();
  await first;
  await vi.advanceTimersByTimeAsync(0);
  expect(passes).toHaveLength(2);
  passes[1]!.end();
  await Promise.all([second, third]);
  expect(passes).toHaveLength(2);
});

test('a pass and its report have the async context of the loop, not that of the request that asks for it', async () => {
  const requests = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const see = () => void seen.push(requests.getStore());
  const work = async () => {
    see();
    await Promise.resolve();
    see();
    throw new Error('failed');
  };
  const { loop } = loopOver(work, { onError: see });
  const caller = requests.run('a request', async () => {
    await loop.run();
    return requests.getStore();
  });
  expect(await caller).toBe('a request');
  expect(seen).toEqual([undefined, undefined, undefined]);
});

test('a failure is reported at once and then once a minute, and the loop continues', async () => {
  const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  let error: Error | undefined = refused;
  const events: string[] = [];
  const loop = new BackgroundLoop({
    work: () => (error ? Promise.reject(error) : Promise.resolve()),
    onError: (detail) => void events.push(detail),
    onRecovery: () => void events.push('recovered'),
    intervalMs: 1_000,
  });
  loop.start();
  await vi.advanceTimersByTimeAsync(60_999);
  expect(events).toEqual(['ECONNREFUSED']);
  await vi.advanceTimersByTimeAsync(1);
  expect(events).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  error = undefined;
  await vi.advanceTimersByTimeAsync(2_000);
  error = new Error('no answer');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(events).toEqual(['ECONNREFUSED', 'ECONNREFUSED', 'recovered', 'no answer']);
  await loop.stop(0);
});

test('finishing runs one last pass, which knows that it is the last', async () => {
  const { passes, work } = controlled();
  const last: boolean[] = [];
  const { loop } = loopOver((isLast) => {
    last.push(isLast);
    return work();
  });
  void loop.run();
  await vi.advanceTimersByTimeAsync(0);
  const finished = loop.finish(10_000);
  passes[0]!.end();
  await vi.advanceTimersByTimeAsync(0);
  passes[1]!.end();
  await finished;
  await loop.run();
  expect(last).toEqual([false, true]);
});

test('a stop waits for the pass under way and begins no other', async () => {
  const { passes, work } = controlled();
  const { loop } = loopOver(work);
  loop.start();
  void loop.run();
  await vi.advanceTimersByTimeAsync(0);
  let stopped = false;
  const stopping = loop.stop(10_000).then(() => (stopped = true));
  expect(loop.stopping).toBe(true);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(stopped).toBe(false);
  passes[0]!.end();
  await stopping;
  await loop.run();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(passes).toHaveLength(1);
});

test('a stop gives up on a pass that takes longer than its patience', async () => {
  const { passes, work } = controlled();
  const { loop } = loopOver(work);
  void loop.run();
  await vi.advanceTimersByTimeAsync(0);
  await loop.stop(20);
  passes[0]!.end();
});

test('a stop waits for what the last pass left in flight, within its patience', async () => {
  const { passes, work: call } = controlled();
  const inFlight: Promise<void>[] = [];
  const { loop } = loopOver(() => Promise.resolve(void inFlight.push(call())), { inFlight: () => inFlight });
  const pass = loop.run();
  let stopped = false;
  const stopping = loop.stop(10_000).then(() => (stopped = true));
  await pass;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(stopped).toBe(false);
  passes[0]!.end();
  await stopping;
});
