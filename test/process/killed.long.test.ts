import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../world/patience.js';
import { BuiltService } from './built-service.js';

describe('the service is killed', () => {
  let service: BuiltService;
  beforeAll(async () => {
    service = await BuiltService.create();
  });
  afterAll(() => service.remove());

  test('while the operator books: after a restart the same request is answered and booked once', async () => {
    const { wallet } = service;
    const stored = await service.bet();
    expect((await service.submit(stored)).json).toMatchObject({ status: 'APPROVED' });
    const body = await service.bet();
    const held = wallet.next({ do: 'hold', booking: 'on-arrival' }, { transactionId: body.transactionId });
    const lost = service.submit(body).catch(() => 'the connection broke');
    await held.arrived;
    await service.end('SIGKILL');
    expect(await lost).toBe('the connection broke');
    held.release();

    await service.start();
    expect((await service.submit(stored)).json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
    await until(async () => (await service.submit(body)).status !== 409);
    expect((await service.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
    expect(wallet.booked(body.transactionId)?.movements).toBe(1);
  });

  test('with many requests in flight: each is booked once, and always gets the same answer', async () => {
    const { wallet } = service;
    const bodies = await Promise.all(Array.from({ length: 60 }, () => service.bet()));
    const booked = () => bodies.filter(({ transactionId }) => wallet.booked(transactionId)).length;
    const lost = bodies.map((body) => service.submit(body).catch(() => undefined));
    await until(async () => booked() >= 20);
    await service.end('SIGKILL');
    const answers = await Promise.all(lost);

    await service.start();
    const settled = bodies.map(async (body) => {
      await until(async () => (await service.submit(body)).status === 200);
      return service.submit(body);
    });
    for (const [index, { json }] of (await Promise.all(settled)).entries()) {
      expect(json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
      // Answers from before the kill are still the same.
      if (answers[index]?.status === 200) expect(json).toEqual(answers[index].json);
    }
    for (const { transactionId } of bodies) expect(wallet.booked(transactionId)?.movements).toBe(1);
  });
});
