import { SkipThrottle, Throttle } from '@nestjs/throttler';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SessionProviderController } from '../../src/session/session.provider.controller.js';
import { WalletController } from '../../src/wallet/wallet.controller.js';
import { PROVIDER, startWorld, type World } from '../world/world.js';

let world: World;
beforeAll(async () => {
  // Each test file has modules of its own, so no other test is affected.
  SkipThrottle()(SessionProviderController);
  Throttle({ default: { limit: 1_000_000 } })(WalletController);
  world = await startWorld();
  await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { requestsPerSecond: 1 });
});
afterAll(() => world.stop());

test.each([
  ['@SkipThrottle', '/v1/wallet/session/verify'],
  ['@Throttle', '/v1/wallet/balance'],
])('%s removes the limit of a route, but not its replay protection', async (_, path) => {
  const body = { sessionToken: 'unknown' };
  const nonces = Array.from({ length: 20 }, () => randomUUID());
  const send = () => Promise.all(nonces.map((nonce) => world.signed(PROVIDER, path, body, { nonce })));
  for (const reply of await send()) expect(reply.headers.get('x-error-code')).toBe('SESSION_INVALID');
  for (const reply of await send()) expect(reply.text).toBe('invalid signature');
});
