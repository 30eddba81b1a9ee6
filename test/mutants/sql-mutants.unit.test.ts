import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mutated } from '../../mutants/mutant.js';
import { SQL_MUTANTS } from '../../mutants/sql-mutants.js';

const ROOT = join(import.meta.dirname, '../..');

describe.each(SQL_MUTANTS)('$name', (mutant) => {
  test('replaces a text that occurs exactly once', () => {
    const source = readFileSync(join(ROOT, mutant.file), 'utf8');
    expect(mutated(mutant, source)).not.toBe(source);
  });

  test('names test files that exist', () => {
    expect(mutant.tests.length).toBeGreaterThan(0);
    expect(mutant.tests.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

test('mutants have different names and different mistakes', () => {
  const distinct = (of: (mutant: (typeof SQL_MUTANTS)[number]) => string) =>
    new Set(SQL_MUTANTS.map(of)).size;
  expect(distinct(({ name }) => name)).toBe(SQL_MUTANTS.length);
  expect(distinct(({ file, text, replacement }) => JSON.stringify([file, text, replacement]))).toBe(
    SQL_MUTANTS.length,
  );
});

test('a text that occurs twice, or never, is refused', () => {
  const mutant = { ...SQL_MUTANTS[0]!, text: 'a', replacement: 'b' };
  expect(mutated(mutant, 'x a x')).toBe('x b x');
  for (const source of ['a a', 'x']) expect(() => mutated(mutant, source)).toThrow('exactly once');
});
