import { expect, test } from 'vitest';
import { capacityOf, NonceMemory } from '../../src/signature/nonce-memory.js';
import { Clock } from '../../src/runtime/clock.js';

test.each([
  ['a tiny limit', 1, 601, 10_000],
  ['the default limit', 200, 601, 480_800],
  ['the highest limit, with the longest memory', 1_000_000, 172_801, 2 ** 24],
])('the number of remembered nonces is bounded at %s', (_, perSecond, rememberSeconds, capacity) => {
  expect(capacityOf(perSecond, rememberSeconds)).toBe(capacity);
});

test('when the memory is full, new nonces are refused and the remembered ones kept', () => {
  const memory = new NonceMemory(new Clock());
  const claim = (nonce: number) => memory.claim('tenant', String(nonce), 601, 1);
  for (let nonce = 0; nonce < 10_000; nonce += 1) expect(claim(nonce)).toBe('claimed');
  expect(claim(10_000)).toBe('full');
  expect(claim(0)).toBe('used');
});
