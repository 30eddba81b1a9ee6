import { beforeEach, describe, expect, test } from 'vitest';
import { capacityOf, NonceMemory } from '../../src/signature/nonce-memory.js';
import { Clock } from '../../src/runtime/clock.js';

test.each([
  ['a tiny limit', 1, 601, 5_000],
  ['the default limit', 200, 601, 240_400],
  ['the highest limit, with the longest memory', 1_000_000, 172_801, 2 ** 24],
])('the number of remembered nonces is bounded at %s', (_, perSecond, rememberSeconds, capacity) => {
  expect(capacityOf(perSecond, rememberSeconds)).toBe(capacity);
});

test('when the memory is full, new nonces are refused and the remembered ones kept', () => {
  const memory = new NonceMemory(new Clock());
  const claim = (nonce: number) => memory.claim('tenant', String(nonce), 601, 1);
  const claimed = Array.from({ length: 5_000 }, (_, nonce) => claim(nonce));
  expect(new Set(claimed)).toEqual(new Set(['claimed']));
  expect(claim(5_000)).toBe('full');
  expect(claim(0)).toBe('used');
});

describe('a nonce', () => {
  let seconds: number;
  let claim: (nonce: string) => string;
  beforeEach(() => {
    seconds = 1_000_000;
    const clock = Object.assign(new Clock(), { unixSeconds: () => seconds });
    const memory = new NonceMemory(clock);
    claim = (nonce) => memory.claim('tenant', nonce, 601, 1);
  });

  test.each([0, 300, 600])('claimed %i s after the first one is refused for 601 s', (after) => {
    claim('first');
    seconds += after;
    expect(claim('nonce')).toBe('claimed');
    for (const since of [0, 1, 300, 600.9]) {
      seconds = 1_000_000 + after + since;
      expect(claim('nonce')).toBe('used');
    }
  });

  test('claimed at the end of a generation is remembered in the next one', () => {
    claim('first');
    seconds += 601;
    expect(claim('nonce')).toBe('claimed');
    seconds += 601;
    expect(claim('nonce')).toBe('used');
  });

  test('is accepted again after twice that time, whether or not others were claimed meanwhile', () => {
    expect(claim('idle')).toBe('claimed');
    seconds += 1_202;
    expect(claim('idle')).toBe('claimed');
    seconds += 601;
    expect(claim('other')).toBe('claimed');
    seconds += 601;
    expect(claim('idle')).toBe('claimed');
  });

  test('takes no room of the next generation', () => {
    for (let nonce = 0; nonce < 5_000; nonce += 1) claim(String(nonce));
    seconds += 600;
    expect(claim('too early')).toBe('full');
    seconds += 1;
    expect(claim('in time')).toBe('claimed');
    expect(claim('4999')).toBe('used');
  });
});

test.each([0, 601])(
  'a lower rate limit refuses nothing within it, %i s after the limit was lowered',
  (after) => {
    let seconds = 1_000_000;
    const memory = new NonceMemory(Object.assign(new Clock(), { unixSeconds: () => seconds }));
    for (let nonce = 0; nonce < 20_000; nonce += 1) memory.claim('tenant', String(nonce), 601, 2_000);
    seconds += after;
    const later = Array.from({ length: 601 }, (_, nonce) => memory.claim('tenant', `later-${nonce}`, 601, 1));
    expect(new Set(later)).toEqual(new Set(['claimed']));
  },
);
