import { expect, test } from 'vitest';
import { valuesWithin } from '../../src/database/time-ordered.js';

const TABLE = { id: 'id', idType: 'bigint' } as const;
const MORNING = { at: '2026-01-01T09:00:00.000500Z', id: '7' };

test.each([
  ['a place before a time', { before: MORNING, to: '2026-01-01T09:00:00.001Z' }, MORNING],
  [
    'a place after a time',
    { before: MORNING, to: '2026-01-01T09:00:00Z' },
    { at: new Date('2026-01-01T09:00:00Z'), id: '0' },
  ],
  ['a place only', { before: MORNING }, MORNING],
  ['a time only', { to: '2026-01-01T10:00+01:00' }, { at: new Date('2026-01-01T09:00:00Z'), id: '0' }],
  ['nothing', {}, { at: undefined, id: undefined }],
])('a list goes up to the older of two ends: %s', (_, span, { at, id }) => {
  expect(valuesWithin(span, TABLE)).toMatchObject({ upperAt: at, upperId: id });
});

test.each([
  [
    'a place before a time',
    { downTo: MORNING, from: '2026-01-01T09:00:00.001Z' },
    { at: new Date('2026-01-01T09:00:00.001Z'), id: '0' },
  ],
  ['a place after a time', { downTo: MORNING, from: '2026-01-01T09:00:00Z' }, MORNING],
  ['a place only', { downTo: MORNING }, MORNING],
  ['a time only', { from: '2026-01-01' }, { at: new Date('2026-01-01T00:00:00Z'), id: '0' }],
  ['nothing', {}, { at: undefined, id: undefined }],
])('a list goes down to the newer of two ends: %s', (_, span, { at, id }) => {
  expect(valuesWithin(span, TABLE)).toMatchObject({ lowerAt: at, lowerId: id });
});
