import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PlatformClient } from '../../src/sandbox/platform-client.js';
import type { CounterpartServer } from '../../src/sandbox/counterpart.server.js';
import { PLAY_PATH, ProviderServer } from '../../src/sandbox/provider.server.js';
import { temporaryFolder } from '../world/temporary-folder.js';

const PROVIDER = { id: 'provider', secret: 'the provider’s secret' };
const GRANT = {
  requestRef: 'request',
  playerRef: 'player',
  gameId: 'game',
  spins: 3,
  betAmountMinor: 0,
  currency: 'EUR',
};
const REVOCATION = {
  revocationRef: 'revocation',
  sessionId: 'session',
  playerRef: 'player',
  gameId: 'game',
  reason: 'KICK',
  revokedAt: '2026-01-01T00:00:00.000Z',
};

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let provider: CounterpartServer;

async function startProvider(): Promise<void> {
  const log = () => undefined;
  provider = await ProviderServer.start({ tenantId: PROVIDER.id, folder: folder.path, port: 0, log });
  provider.trust(PROVIDER.secret);
}

beforeEach(async () => {
  folder = await temporaryFolder();
  await startProvider();
});

afterEach(async () => {
  await provider.stop();
  await folder.remove();
});

function call(route: string, body: object, secret?: string) {
  return signed(`/v1/game/${route}`, body, secret);
}

function play(batch: object, secret?: string) {
  return signed(PLAY_PATH, batch, secret);
}

function signed(path: string, body: object, secret = PROVIDER.secret) {
  return new PlatformClient(provider.baseUrl).signed({ ...PROVIDER, secret }, path, body);
}

/** The sessions that the journal says are revoked. */
async function revoked(): Promise<unknown[]> {
  const lines = (await readFile(join(folder.path, 'provider.jsonl'), 'utf8')).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as { what: string; sessionId?: string });
  return events.filter(({ what }) => what === 'revoked').map(({ sessionId }) => sessionId);
}

async function grant(
  body: object = GRANT,
): Promise<{ externalRef: string; playerRef: string; gameId: string }> {
  const { status, json } = await call('free-spins/grant', body);
  expect(status).toBe(200);
  return { externalRef: String(json['externalRef']), playerRef: 'player', gameId: 'game' };
}

async function left(batch: object): Promise<unknown> {
  const { status, json } = await call('free-spins/status', batch);
  expect(status).toBe(200);
  return json;
}

test('a callback that is signed with another secret is a 401', async () => {
  expect((await call('free-spins/grant', GRANT, 'another secret')).status).toBe(401);
});

test('a repeated grant is the same batch; another grant is a new batch', async () => {
  const batch = await grant();
  await play(batch);
  expect(await grant()).toEqual(batch);
  expect(await left(batch)).toEqual({ remainingSpins: 2, completed: false });
  expect((await grant({ ...GRANT, requestRef: 'another' })).externalRef).not.toBe(batch.externalRef);
});

test('spins are played with the secret, until none is left', async () => {
  const batch = await grant({ ...GRANT, spins: 2 });
  expect((await play(batch, 'another secret')).status).toBe(401);
  expect((await play({ ...batch, externalRef: 'unknown' })).status).toBe(404);
  expect(await play(batch)).toMatchObject({ status: 200, json: { remainingSpins: 1, completed: false } });
  expect(await play(batch)).toMatchObject({ status: 200, json: { remainingSpins: 0, completed: true } });
  const error = `no spins are left in batch ${batch.externalRef}`;
  expect(await play(batch)).toMatchObject({ status: 409, json: { error } });
});

test('a cancel voids the remaining spins, also if it is repeated; spins already played remain valid', async () => {
  const batch = await grant();
  await play(batch);
  expect((await call('free-spins/cancel', batch)).status).toBe(200);
  expect((await call('free-spins/cancel', batch)).status).toBe(200);
  expect(await left(batch)).toEqual({ remainingSpins: 0, completed: true });
  expect((await play(batch)).status).toBe(409);
});

test.each(['free-spins/status', 'free-spins/cancel'])(
  "%s of another player's or game's batch is a 404",
  async (route) => {
    const batch = await grant();
    expect((await call(route, { ...batch, externalRef: 'unknown' })).status).toBe(404);
    expect((await call(route, { ...batch, playerRef: 'another' })).status).toBe(404);
    expect(await left(batch)).toEqual({ remainingSpins: 3, completed: false });
  },
);

test('a revoked session is remembered', async () => {
  expect((await call('session/revoke', REVOCATION)).status).toBe(200);
  expect((await call('session/revoke', REVOCATION)).status).toBe(200);
  expect(await revoked()).toEqual(['session']);
});

test('a restart keeps batches and revocations', async () => {
  const played = await grant();
  const cancelled = await grant({ ...GRANT, requestRef: 'another' });
  await play(played);
  await call('free-spins/cancel', cancelled);
  await call('session/revoke', REVOCATION);
  await provider.stop();
  await startProvider();
  expect(await left(played)).toEqual({ remainingSpins: 2, completed: false });
  expect(await left(cancelled)).toEqual({ remainingSpins: 0, completed: true });
  expect(await grant()).toEqual(played);
  expect((await grant({ ...GRANT, requestRef: 'third' })).externalRef).not.toBe(cancelled.externalRef);
  expect((await call('session/revoke', REVOCATION)).status).toBe(200);
  expect(await revoked()).toEqual(['session']);
});

test('an invalid grant is a 400', async () => {
  for (const change of [
    { spins: 0 },
    { spins: 1.5 },
    { betAmountMinor: -1 },
    { currency: 'eur' },
    { requestRef: '' },
  ]) {
    expect((await call('free-spins/grant', { ...GRANT, ...change })).status).toBe(400);
  }
});
