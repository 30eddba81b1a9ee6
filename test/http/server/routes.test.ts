import type { Router } from 'express';
import { expect, test } from 'vitest';
import { useWorld } from '../../world/world.js';

const world = useWorld();

/** The paths of the routes, in the order in which Express tries them for each request. */
function routes(): string[] {
  const { router } = world.app.getHttpAdapter().getInstance() as { router: Router };
  return router.stack.flatMap(({ route }) => route?.path ?? []);
}

test('the wallet and session routes are tried first', () => {
  expect(routes().slice(0, 15)).toContain('/v1/wallet/transaction');
  expect(routes().slice(0, 15)).toContain('/v1/wallet/session/verify');
});
