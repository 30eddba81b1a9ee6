import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../world/patience.js';
import { BuiltService } from './built-service.js';

/** A change waits for this row in the middle of its transaction. */
const LOCK = `BEGIN; SELECT FROM tenants WHERE id = 'spinwell' FOR UPDATE`;
const WAITING = `SELECT FROM pg_stat_activity WHERE application_name = 'croupier' AND wait_event_type = 'Lock'`;

describe('the database of a running service', () => {
  let service: BuiltService;
  beforeAll(async () => {
    service = await BuiltService.create();
  });
  afterAll(() => service.remove());

  const change = () => service.change('/v1/admin/providers/spinwell', { name: 'Spinwell' });

  test.each(['SIGINT', 'SIGQUIT', 'SIGKILL'] as const)(
    'restarts after %s while a transaction uses a connection: the service continues',
    async (signal) => {
      const body = await service.bet();
      const { url, pid } = await service.database();
      const holder = new pg.Client({ connectionString: url });
      holder.on('error', () => undefined);
      await holder.connect();
      await holder.query(LOCK);
      const held = service.wallet.next(
        { do: 'hold', booking: 'on-arrival' },
        { transactionId: body.transactionId },
      );
      const bet = service.submit(body);
      const changing = change();
      await held.arrived;
      await until(async () => (await holder.query(WAITING)).rowCount === 1);

      process.kill(pid, signal);
      const refused = await changing;
      expect([refused.status, refused.headers.get('x-next-action')]).toEqual([500, 'retry-same-request']);
      held.release();
      expect([200, 500]).toContain((await bet).status);

      await until(async () => {
        expect(service.exitCode).toBeNull();
        return (await change()).status === 200;
      });
      expect((await service.database()).pid).not.toBe(pid);
      await until(async () => (await service.submit(body)).status === 200);
      expect((await service.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
      expect(service.wallet.booked(body.transactionId)?.movements).toBe(1);
    },
  );

  test('restarts after the reader of the log has ended: the service continues', async () => {
    const { pid } = await service.database();
    service.closeOutput();
    process.kill(pid, 'SIGINT');
    await until(async () => {
      expect(service.exitCode).toBeNull();
      const body = await service.bet().catch(() => undefined);
      return body !== undefined && (await service.submit(body)).status === 200;
    });
    expect((await service.database()).pid).not.toBe(pid);
    expect((await change()).status).toBe(200);
  });
});
