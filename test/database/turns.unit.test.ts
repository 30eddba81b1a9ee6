import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Turns } from '../../src/database/turns.js';

const overloadRefused = vi.fn();
let turns: Turns;
/** The reads that have begun, in order, each with its end. */
let begun: { readonly name: string; readonly end: () => void }[];

beforeEach(() => {
  vi.useFakeTimers();
  overloadRefused.mockReset();
  turns = new Turns({ overloadRefused } as never);
  begun = [];
});
afterEach(() => void vi.useRealTimers());

/** Reads that take until the test ends them. */
function read(caller: string, count: number, of: 'request' | 'begun' = 'request'): Promise<string>[] {
  return Array.from({ length: count }, (_, n) => {
    const name = `${caller}${n}`;
    return turns.reads.run(
      caller,
      of,
      () => new Promise<string>((resolve) => begun.push({ name, end: () => resolve(name) })),
    );
  });
}

const passed = () => vi.advanceTimersByTimeAsync(0);
const names = () => begun.map(({ name }) => name);

/** Ends the read that began first, so that another one begins. */
async function endOne(): Promise<string> {
  const { name, end } = begun.shift()!;
  end();
  await passed();
  return name;
}

async function endAll(): Promise<string[]> {
  const ended: string[] = [];
  await passed();
  while (begun.length > 0) ended.push(await endOne());
  return ended;
}

test('a caller has four reads under way, and its others follow in order of arrival', async () => {
  const answers = read('a', 10);
  await passed();
  expect(names()).toEqual(['a0', 'a1', 'a2', 'a3']);
  await endOne();
  expect(names()).toEqual(['a1', 'a2', 'a3', 'a4']);
  await endAll();
  expect(await Promise.all(answers)).toHaveLength(10);
});

test('all callers have ten reads under way, and take turns', async () => {
  const answers = ['a', 'b', 'c', 'd'].flatMap((caller) => read(caller, 6));
  await passed();
  expect(names()).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2', 'b3', 'c0', 'c1']);
  for (let ended = 0; ended < 8; ended += 1) await endOne();
  expect(names().slice(2)).toEqual(['a4', 'c2', 'd0', 'a5', 'b4', 'c3', 'd1', 'b5']);
  await endAll();
  expect(await Promise.all(answers)).toHaveLength(24);
});

test('a read that fails ends its turn', async () => {
  const failures = Array.from({ length: 6 }, () =>
    turns.reads.run('a', 'request', () => Promise.reject(new Error('away'))),
  );
  for (const failure of failures) await expect(failure).rejects.toThrow('away');
  const answers = read('a', 4);
  expect(await endAll()).toHaveLength(4);
  await Promise.all(answers);
});

test('a request is refused after three seconds, and a page of an answer that has begun after a minute', async () => {
  const answers = read('a', 4);
  const [request] = read('a', 1);
  const [page] = read('a', 1, 'begun');
  const refusal = { code: 'OVERLOADED', headers: { 'Retry-After': '1' } };
  const refused = expect(request).rejects.toMatchObject(refusal);
  await vi.advanceTimersByTimeAsync(2_999);
  expect(overloadRefused).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await refused;
  const cutOff = expect(page).rejects.toMatchObject(refusal);
  await vi.advanceTimersByTimeAsync(57_000);
  await cutOff;
  expect(overloadRefused.mock.calls).toEqual([['reads-waited'], ['reads-waited']]);
  // The refused reads have left the queue.
  expect(await endAll()).toEqual(['a0', 'a1', 'a2', 'a3']);
  await Promise.all(answers);
  expect(vi.getTimerCount()).toBe(0);
  expect(turns.reads).toMatchObject({ underWay: 0, callers: new Map() });
});

test('at most two hundred requests of a caller wait; pages of answers that have begun wait beyond', async () => {
  const answers = read('a', 204);
  await expect(read('a', 1)[0]).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(overloadRefused.mock.calls).toEqual([['reads-full']]);
  answers.push(...read('a', 1, 'begun'), ...read('b', 1));
  await endAll();
  expect(await Promise.all(answers)).toHaveLength(206);
});

test('a caller has two changes under way, all callers six, and reads do not count', async () => {
  const answers = read('r', 4);
  const ends: { readonly caller: string; readonly end: () => void }[] = [];
  const begin = (caller: string) =>
    turns.changes.run(caller, 'request', () => new Promise<void>((end) => ends.push({ caller, end })));
  const changes = ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'd'].map(begin);
  await passed();
  expect(ends.map(({ caller }) => caller)).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  for (let ended = 0; ended < changes.length; ended += 1) {
    ends[ended]!.end();
    await passed();
  }
  await Promise.all(changes);
  expect(overloadRefused).not.toHaveBeenCalled();
  await endAll();
  await Promise.all(answers);
});

test('a change is refused after ten seconds, but not if it records what has happened', async () => {
  let end = (): void => undefined;
  const held = () => new Promise<void>((resolve) => (end = resolve));
  for (let under = 0; under < 2; under += 1) void turns.changes.run('a', 'request', held);
  const ran: string[] = [];
  const change = turns.changes.run('a', 'request', async () => void ran.push('change'));
  const record = turns.changes.run('a', 'begun', async () => void ran.push('record'));
  const refused = expect(change).rejects.toMatchObject({
    code: 'OVERLOADED',
    headers: { 'Retry-After': '1' },
  });
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  expect(overloadRefused.mock.calls).toEqual([['changes-waited']]);
  end();
  await record;
  expect(ran).toEqual(['record']);
});
