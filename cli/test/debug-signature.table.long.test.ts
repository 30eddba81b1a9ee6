import { describe, expect, test } from 'vitest';
import { diagnose } from '../src/debug/diagnosis.js';
import { callOf, randomFrom, requestOf } from './support/planted/call.js';
import { PLANTED_MISTAKES } from './support/planted/mistakes.js';

/** `DEBUG_SEED` varies the requests; `DEBUG_REQUESTS` is the number of requests for each kind of mistake. */
const SEED = Number(process.env['DEBUG_SEED'] ?? 20_261_123);
const REQUESTS = Number(process.env['DEBUG_REQUESTS'] ?? 1);
/** Time-out, in milliseconds. A search without a result takes seconds on a quiet machine, a minute on a busy one. */
const PATIENCE_MS = 600_000;

test('at least 95 of 100 planted mistakes are named, and none wrongly', { timeout: PATIENCE_MS }, () => {
  const random = randomFrom(SEED);
  const rows = PLANTED_MISTAKES.map(({ kind, codes, plant, needs }) => {
    const row = { kind, found: 0, wrong: 0, none: 0, ms: 0, tried: 0, named: '' };
    for (let index = 0; index < REQUESTS; index += 1) {
      const call = callOf(random, needs);
      const request = requestOf(call, plant(call, random));
      const startedAt = performance.now();
      const { reason, causes, tried } = diagnose(request);
      row.ms = Math.max(row.ms, Math.round(performance.now() - startedAt));
      row.tried = Math.max(row.tried, tried);
      expect(reason, `${kind}: the signature should be refused`).toBeDefined();
      const named = causes.map(({ code }) => code);
      if (named.includes('unknown')) {
        row.none += 1;
      } else if (codes.some((each) => each.split('+').sort().join() === [...named].sort().join())) {
        row.found += 1;
      } else {
        row.wrong += 1;
        row.named = named.join('+');
      }
    }
    return row;
  });
  const sum = (column: 'found' | 'wrong' | 'none') => rows.reduce((total, row) => total + row[column], 0);
  const total = rows.length * REQUESTS;
  console.table(rows.filter(({ found }) => found < REQUESTS));
  console.log(
    `seed ${SEED}: ${total} wrongly signed requests of ${rows.length} kinds: ${sum('found')} found ` +
      `(${((100 * sum('found')) / total).toFixed(1)} %), ${sum('wrong')} wrong, ${sum('none')} none; ` +
      `slowest ${Math.max(...rows.map(({ ms }) => ms))} ms`,
  );
  expect(sum('wrong')).toBe(0);
  expect(sum('found') / total).toBeGreaterThanOrEqual(0.95);
});

describe('a signature that nothing explains', { timeout: PATIENCE_MS }, () => {
  const random = randomFrom(SEED);
  const call = callOf(random, { body: 'plain' });
  const request = requestOf(call, { key: 'another secret' });
  const codes = (changes: object = {}) => diagnose({ ...request, ...changes }).causes.map(({ code }) => code);

  test('is unknown', () => {
    expect(codes()).toEqual(['unknown']);
  });

  test('is another key if the right bytes were signed', () => {
    const { canonical } = diagnose(request);
    expect(codes({ claimedBytes: canonical })).toEqual(['key-other']);
  });

  test('of a large body is searched within the same bound', () => {
    const body = Buffer.from(JSON.stringify({ a: 'x'.repeat(60_000), b: Array<number>(500).fill(7) }));
    const { causes, tried } = diagnose({ ...request, body });
    expect(causes.map(({ code }) => code)).toEqual(['unknown']);
    expect(tried).toBeLessThan(10_000);
  });

  test('of a body that is nested deeply is unknown, too', () => {
    const body = Buffer.from('['.repeat(30_000) + ']'.repeat(30_000));
    expect(codes({ body })).toEqual(['unknown']);
  });
});
