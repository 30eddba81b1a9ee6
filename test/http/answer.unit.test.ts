import { Expose } from 'class-transformer';
import { expect, test } from 'vitest';
import { answerOf, answersOf, ExposeUnlessNull } from '../../src/api/answer.js';

class Answer {
  @Expose()
  id: string;

  @ExposeUnlessNull()
  limit?: number;

  @Expose()
  usedAt: Date | null;
}

const usedAt = new Date('2026-01-31T23:59:59.007Z');

test.each<[string, object, string]>([
  [
    'the exposed fields, in their order',
    { usedAt, limit: 0, id: 'a' },
    `{"id":"a","limit":0,"usedAt":"${usedAt.toISOString()}"}`,
  ],
  [
    'no other field',
    { id: 'a', usedAt, secret: 'x', kind: 'y' },
    `{"id":"a","usedAt":"${usedAt.toISOString()}"}`,
  ],
  [
    'null only if the field is exposed with null',
    { id: 'a', limit: null, usedAt: null },
    '{"id":"a","usedAt":null}',
  ],
])('an answer has %s', (_, entity, json) => {
  const answer = answerOf(Answer, entity);
  expect(answer).toBeInstanceOf(Answer);
  expect(JSON.stringify(answer)).toBe(json);
  expect(JSON.stringify(answersOf(Answer, { items: [entity] }))).toBe(`{"items":[${json}]}`);
});

test('a page keeps its cursor', () => {
  expect(answersOf(Answer, { items: [], nextCursor: 'next' })).toEqual({ items: [], nextCursor: 'next' });
});
