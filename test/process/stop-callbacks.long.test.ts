import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../world/patience.js';
import { GRANT, ProviderCounterpart, REVOKE, STATUS } from '../world/provider.js';
import { BuiltService } from './built-service.js';

const FREE_SPINS = '/v1/operator/free-spins';
const SPINS = { gameId: 'reels', spins: 5, betAmountMinor: 20, currency: 'EUR' };
/** Less than the time-out, and longer than the shortest limit of a stop. */
const ANSWERED_AFTER_MS = 11_000;
const ENVIRONMENT = { CALLBACK_TIMEOUT_MS: '20000' };

let provider: ProviderCounterpart;
let service: BuiltService;
beforeAll(async () => {
  provider = await ProviderCounterpart.start();
  service = await BuiltService.create(ENVIRONMENT);
  await service.change('/v1/admin/providers/spinwell', { webhookBaseUrl: provider.baseUrl });
});

afterAll(async () => {
  await provider.stop();
  await service.remove();
});

async function onDatabase<Row extends object>(sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: (await service.database()).url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Grants spins to one player by a batch, which is sent in the background. */
async function sendBatch(): Promise<string> {
  const order = { ...SPINS, batchRef: randomUUID(), playerRefs: [randomUUID()] };
  return String((await service.signed('lucky', `${FREE_SPINS}/batches`, order)).json['batchId']);
}

test('a stop lets callbacks under way take up to their time-out, and records their outcomes', async () => {
  const granted = await sendBatch();
  const states = () => onDatabase<{ state: string }>('SELECT state FROM free_spin_grants');
  await until(async () => (await states()).every(({ state }) => state === 'GRANTED'));
  await service.bet();
  const held = provider.always({ do: 'hold' });

  await sendBatch();
  await service.signed('lucky', `${FREE_SPINS}/batches/${granted}/status`, {});
  await onDatabase(
    `WITH revoked AS (UPDATE sessions SET revoked_at = now(), revoke_reason = 'KICK' RETURNING session_id)
     INSERT INTO session_revocations (session_id, lease_until) SELECT session_id, clock_timestamp() FROM revoked`,
  );
  const order = { ...SPINS, requestRef: randomUUID(), playerRef: randomUUID() };
  const answer = service.signed('lucky', FREE_SPINS, order);
  await until(async () => [GRANT, GRANT, GRANT, STATUS, REVOKE].length === provider.received.length);
  const ended = service.end('SIGTERM');
  setTimeout(() => held.release(), ANSWERED_AFTER_MS);
  expect((await answer).json).toMatchObject({ state: 'GRANTED' });
  await ended;
  expect(service.exitCode).toBe(0);

  await service.start(ENVIRONMENT);
  expect(await states()).toEqual(Array(3).fill({ state: 'GRANTED' }));
  expect(await onDatabase('SELECT route, status FROM callbacks ORDER BY route')).toEqual(
    [GRANT, GRANT, GRANT, STATUS, REVOKE].map((route) => ({ route, status: 200 })),
  );
});
