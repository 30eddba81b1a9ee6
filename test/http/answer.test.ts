import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { expect, test } from 'vitest';
import { answerOf, answersOf } from '../../src/api/answer.js';

class Identified {
  @ApiProperty()
  id: string;
}

class Answer extends Identified {
  @ApiPropertyOptional()
  limit?: number;

  @ApiProperty()
  usedAt: Date;
}

const usedAt = new Date('2026-01-31T23:59:59.007Z');

test.each<[string, object, string]>([
  [
    'the documented fields, in their order',
    { usedAt, limit: 0, id: 'a' },
    `{"id":"a","limit":0,"usedAt":"${usedAt.toISOString()}"}`,
  ],
  [
    'no other field',
    { id: 'a', usedAt, secret: 'x', kind: 'y' },
    `{"id":"a","usedAt":"${usedAt.toISOString()}"}`,
  ],
  [
    'no field that is null',
    { id: 'a', limit: null, usedAt },
    `{"id":"a","usedAt":"${usedAt.toISOString()}"}`,
  ],
])('an answer has %s', (_, entity, json) => {
  expect(JSON.stringify(answerOf(Answer, entity))).toBe(json);
  expect(JSON.stringify(answersOf(Answer, { items: [entity] }))).toBe(`{"items":[${json}]}`);
});

test('a page keeps its cursor', () => {
  expect(answersOf(Answer, { items: [], nextCursor: 'next' })).toEqual({ items: [], nextCursor: 'next' });
});
