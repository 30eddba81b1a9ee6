import { expect, test } from 'vitest';
import { CAUSES, type CauseCode } from '../src/debug/causes.js';
import { diagnose } from '../src/debug/diagnosis.js';
import type { Mistake } from '../src/debug/signing.js';
import { callOf, randomFrom, requestOf } from './support/planted/call.js';
import { COMBINATIONS } from './support/planted/combinations.js';
import { PLANTED_MISTAKES } from './support/planted/mistakes.js';

/**
 * `DEBUG_SEED` varies the requests; `DEBUG_REQUESTS` is the number of requests for each kind of mistake, and
 * `DEBUG_COMBINATIONS` selects every so many of the combinations of two mistakes.
 */
const SEED = Number(process.env['DEBUG_SEED'] ?? 20_261_123);
const REQUESTS = Number(process.env['DEBUG_REQUESTS'] ?? 1);
const EVERY_COMBINATION = Number(process.env['DEBUG_COMBINATIONS'] ?? 10);
/** Processor time of the command's search, in milliseconds. */
const COMMAND_MS = 1600;
/** Time-out, in milliseconds, on a busy machine. */
const PATIENCE_MS = 1_800_000;

const usedMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const codesOf = (mistakes: readonly Mistake[]) =>
  mistakes
    .map(({ code }) => code)
    .sort()
    .join('+');

/** All kinds, with some of the combinations of two: the seed selects which. */
const kinds = () => [
  ...PLANTED_MISTAKES,
  ...COMBINATIONS.filter((_, index) => (index + SEED) % EVERY_COMBINATION === 0),
];

/** Twice the command's time, because the processor may be shared, unless there is nothing to find. */
const budgetMs = (codes: readonly string[]) => (codes.includes('unknown') ? COMMAND_MS : 2 * COMMAND_MS);

/** Each kind of mistake with what the command says about it: all causes that it considers possible. */
const diagnoses = () => {
  const random = randomFrom(SEED);
  return kinds().flatMap(({ kind, codes, plant, needs }) =>
    Array.from({ length: REQUESTS }, () => {
      const call = callOf(random, needs);
      const request = requestOf(call, plant(call, random));
      const startedMs = usedMs();
      const limits = { usedMs, deadlineMs: startedMs + budgetMs(codes) };
      const { reason, causes, alternatives, tried } = diagnose(request, limits);
      expect(reason, `${kind}: the signature should be refused`).toBeDefined();
      const named = [causes, ...alternatives].map(codesOf);
      const expected = codes.map((each) => each.split('+').sort().join('+'));
      const verdict = causes.some(({ code }) => code === 'unknown')
        ? 'unknown'
        : named.some((each) => expected.includes(each))
          ? 'named'
          : 'wrong';
      return { kind, verdict, expected, named, tried, ms: Math.round(usedMs() - startedMs) };
    }),
  );
};

test('at least 95 of 100 planted mistakes are named, and none wrongly', { timeout: PATIENCE_MS }, () => {
  const rows = diagnoses();
  const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
  console.table(rows.filter(({ verdict }) => verdict !== 'named'));
  console.log(
    `seed ${SEED}: ${rows.length} wrongly signed requests: ${count('named')} named ` +
      `(${((100 * count('named')) / rows.length).toFixed(1)} %), ${count('wrong')} wrong, ${count('unknown')} unknown; ` +
      `slowest ${Math.max(...rows.map(({ ms }) => ms))} ms`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(500);
  expect(rows.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
  expect(count('named') / rows.length).toBeGreaterThanOrEqual(0.95);
});

test('each cause is planted', () => {
  const planted = new Set(PLANTED_MISTAKES.flatMap(({ codes }) => codes.flatMap((each) => each.split('+'))));
  const missing = (Object.keys(CAUSES) as CauseCode[]).filter((code) => !planted.has(code));
  expect(missing).toEqual([]);
});
