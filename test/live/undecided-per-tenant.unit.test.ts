import { expect, test } from 'vitest';
import { perTenant } from '../../src/live/undecided-per-tenant.js';

const COUNTS = [
  { operatorId: 'one', providerId: 'spinwell', count: 2, oldestSeconds: 7.5 },
  { operatorId: 'two', providerId: 'spinwell', count: 3, oldestSeconds: 90.2 },
  { operatorId: 'one', providerId: 'reelhouse', count: 4, oldestSeconds: 60 },
];

test('the undecided transactions of each tenant are summed, with the age of the oldest', () => {
  expect([...perTenant(COUNTS, ({ operatorId }) => operatorId)]).toEqual([
    ['one', { count: 6, oldestSeconds: 60 }],
    ['two', { count: 3, oldestSeconds: 90.2 }],
  ]);
  expect([...perTenant(COUNTS, ({ providerId }) => providerId)]).toEqual([
    ['spinwell', { count: 5, oldestSeconds: 90.2 }],
    ['reelhouse', { count: 4, oldestSeconds: 60 }],
  ]);
});

test('each count is read once, however many tenants there are', () => {
  let read = 0;
  perTenant(COUNTS, ({ operatorId }) => {
    read += 1;
    return operatorId;
  });
  expect(read).toBe(COUNTS.length);
});
