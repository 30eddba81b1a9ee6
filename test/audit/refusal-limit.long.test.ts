import { expect, test } from 'vitest';
import { OPERATOR, useWorld } from '../world/world.js';

const world = useWorld();

/**
 * Creates a key of the role support.
 * @returns a function that calls with it
 */
async function supportKey() {
  const { json } = await world.admin('POST', '/v1/admin/keys', { name: 'Support', role: 'support' });
  const headers = { Authorization: `Bearer ${String(json['key'])}` };
  return (method: string, path: string) => world.request(path, { method, headers });
}

test('after 1,000 refusals within a minute, the calls of that key alone are 429 for the rest of it', async () => {
  const call = await supportKey();
  const callOfAnother = await supportKey();
  const refused = () => call('POST', `/v1/admin/operators/${OPERATOR}/resume`);
  for (let n = 0; n < 1_000; n += 50) {
    const replies = await Promise.all(Array.from({ length: 50 }, refused));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([403]));
  }
  const limited = await refused();
  expect([limited.status, limited.text]).toEqual([429, '{"error":"rate limit exceeded"}']);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect((await call('GET', '/v1/admin/games')).status).toBe(429);
  expect((await callOfAnother('GET', '/v1/admin/games')).status).toBe(200);
  world.clock.advance(60);
  expect((await call('GET', '/v1/admin/games')).status).toBe(200);
}, 60_000);
