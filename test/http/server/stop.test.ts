import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { startWorld } from '../../world/world.js';
import { PATIENCE } from '../../world/patience.js';

test('a stop closes the listener at once, whatever the background work waits for, and finishes what is in flight', async () => {
  const world = await startWorld();
  const holder = new pg.Client({ connectionString: world.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE tenancy_version');
  const polling = `SELECT 1 FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%tenancy_version%'`;
  await vi.waitUntil(async () => (await world.sql.run(polling)).length === 1, PATIENCE);
  const body = world.transaction(await world.launch(), 'BET');
  const held = world.wallet.next({ do: 'hold' }, { transactionId: body.transactionId });
  const answer = world.submit(body);
  await held.arrived;

  const closed = world.app.close();
  await expect(fetch(`${world.url}/health/live`)).rejects.toThrow('fetch failed');
  held.release();
  const reply = await answer;
  expect(reply.json).toMatchObject({ status: 'APPROVED' });
  expect(reply.headers.get('connection')).toBe('close');
  await holder.end();
  await closed;
  expect(await world.stateOf(body.transactionId)).toBe('APPROVED');
  await world.stop();
});
