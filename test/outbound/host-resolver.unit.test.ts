import type { LookupAddress } from 'node:dns';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HostResolver } from '../../src/outbound/host-resolver.js';
import { PATIENCE } from '../world/patience.js';

const PUBLIC = { address: '8.8.8.8', family: 4 };
const PRIVATE = { address: '127.0.0.1', family: 4 };

type Answer = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** A resolver whose system answers when the test does. */
function resolver() {
  const asked: { hostname: string; answer: Answer }[] = [];
  const hosts = new HostResolver();
  hosts.resolve = (hostname, _, answer) => void asked.push({ hostname, answer });
  const results: string[] = [];
  const look = (lookup: 'any' | 'publicOnly', hostname: string, family?: number) =>
    hosts[lookup](hostname, { family }, (error, address) =>
      results.push(error?.message ?? (address as string)),
    );
  return { asked, results, look };
}

test('calls to one name at the same time share a look-up, and those to another do not wait for it', () => {
  const { asked, results, look } = resolver();
  for (let call = 0; call < 50; call += 1) look('any', 'dead.example');
  look('any', 'live.example');
  expect(asked.map(({ hostname }) => hostname)).toEqual(['dead.example', 'live.example']);
  asked[1]!.answer(null, [PUBLIC]);
  expect(results).toEqual(['8.8.8.8']);
  asked[0]!.answer(Object.assign(new Error('queryA ETIMEOUT')), []);
  expect(results).toEqual(['8.8.8.8', ...Array<string>(50).fill('queryA ETIMEOUT')]);
});

test('each call is checked, and a later one asks again', () => {
  const { asked, results, look } = resolver();
  look('any', 'wallet.example');
  look('publicOnly', 'wallet.example');
  asked[0]!.answer(null, [PRIVATE]);
  expect(results).toEqual(['127.0.0.1', 'the name resolves to a private address']);
  look('publicOnly', 'wallet.example');
  asked[1]!.answer(null, [PUBLIC]);
  expect(results.at(-1)).toBe('8.8.8.8');
});

test('calls for another family have a look-up of their own', () => {
  const { asked, look } = resolver();
  look('any', 'wallet.example', 4);
  look('any', 'wallet.example', 6);
  expect(asked).toHaveLength(2);
});

test('look-ups of names that failed slowly take turns, and leave one of the two to others', async () => {
  const { asked, results, look } = resolver();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const names = () => asked.splice(0).map(({ hostname }) => hostname);
  const answerAt = (ms: number, index: number) => {
    clock.mockReturnValue(ms);
    asked[index]!.answer(null, [PUBLIC]);
  };
  const failAt = (ms: number, index: number) => {
    clock.mockReturnValue(ms);
    asked[index]!.answer(new Error('EAI_AGAIN'), []);
  };
  for (const name of ['a.dead', 'b.dead', 'live']) look('any', name);
  for (const index of [0, 1, 2]) failAt(10_000, index);
  expect(names()).toEqual(['a.dead', 'b.dead', 'live']);

  for (const name of ['a.dead', 'b.dead', 'live', 'b.dead']) look('any', name);
  await vi.waitUntil(() => asked.length === 2, PATIENCE);
  expect(asked.map(({ hostname }) => hostname)).toEqual(['live', 'a.dead']);
  failAt(20_000, 1);
  await vi.waitUntil(() => asked.length === 3, PATIENCE);
  expect(asked[2]!.hostname).toBe('b.dead');
  answerAt(20_500, 2);
  const failures = Array<string>(4).fill('EAI_AGAIN');
  expect(results).toEqual([...failures, '8.8.8.8', '8.8.8.8']);

  // b.dead has just been found.
  asked.length = 0;
  look('any', 'b.dead');
  expect(names()).toEqual(['b.dead']);
});

test('a name that was found slowly does not wait for names that cannot be found', async () => {
  const { asked, look } = resolver();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  look('any', 'a.dead');
  look('any', 'live');
  clock.mockReturnValue(5_000);
  asked[0]!.answer(new Error('EAI_AGAIN'), []);
  asked[1]!.answer(null, [PUBLIC]);
  look('any', 'a.dead');
  await vi.waitUntil(() => asked.length === 3, PATIENCE);
  look('any', 'live');
  expect(asked.slice(2).map(({ hostname }) => hostname)).toEqual(['a.dead', 'live']);
});
