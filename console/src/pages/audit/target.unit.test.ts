import { expect, test } from 'vitest';
import { targetPage } from './target.ts';

test.each([
  { target: 'limit:lucky-casino/EUR', page: '/console/limits?operatorId=lucky-casino&currency=EUR' },
  { target: 'transaction:acme/bet-1', page: '/console/transactions/acme/bet-1' },
  { target: 'adjustment:goodwill-17', page: '/console/transactions/platform/goodwill-17' },
  { target: 'keys', page: undefined },
])('$target is shown at $page', ({ target, page }) => {
  expect(targetPage(target)).toBe(page);
});
