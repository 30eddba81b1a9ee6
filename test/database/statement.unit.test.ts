import { expect, test } from 'vitest';
import { named, valuesOf } from '../../src/database/statement.js';

test('parameters are numbered in the order of their first mention', () => {
  const { text, parameters } = named('x', 'SELECT :playerRef WHERE a = :limit AND b = :playerRef');
  expect(text).toBe('SELECT $1 WHERE a = $2 AND b = $1');
  expect(parameters).toEqual(['playerRef', 'limit']);
});

test.each([
  ['a cast', 'SELECT a::text, b ::bigint'],
  ['a format of times', `SELECT to_char(a, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`],
  ['an operator of JSON', `SELECT attempt ->> 'outcome'`],
])('%s is no parameter', (_, text) => {
  expect(named('x', text)).toEqual({ name: 'x', text, parameters: [] });
});

test('a cast may follow a parameter', () => {
  expect(named('x', 'SELECT :amountMinor::bigint').text).toBe('SELECT $1::bigint');
});

test('values are found by name; further fields are ignored', () => {
  const statement = named('x', 'SELECT :b, :a');
  expect(valuesOf(statement, { a: 1, b: undefined, c: 3 })).toEqual([undefined, 1]);
});

test('a missing value is an error that names the statement and the parameter', () => {
  expect(() => valuesOf(named('x', 'SELECT :a'), { b: 1 })).toThrow('the statement x needs a value for :a');
});
