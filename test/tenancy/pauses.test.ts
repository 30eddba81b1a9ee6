import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { GAME, OPERATOR, PROVIDER, type Reply, useWorld, type World } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

let other: World;
const lines: Record<string, unknown>[] = [];

const world = useWorld(
  { LOG_LEVEL: 'info' },
  { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
);
beforeAll(async () => {
  other = await world.another(world.clock);
});
afterEach(async () => {
  for (const { path } of CASES) expect((await world.admin('POST', `${path}/resume`)).status).toBe(200);
  // The other instance would read it up to half a second later.
  await other.app.get(TenancyService).reload();
});
afterAll(() => other.app.close());

const CASES = [
  {
    noun: 'operator',
    path: `/v1/admin/operators/${OPERATOR}`,
    id: OPERATOR,
    code: 'OPERATOR_NOT_CONFIGURED',
  },
  { noun: 'provider', path: `/v1/admin/providers/${PROVIDER}`, id: PROVIDER, code: 'GAME_NOT_CONFIGURED' },
  { noun: 'game', path: `/v1/admin/games/${GAME}`, id: GAME, code: 'GAME_NOT_CONFIGURED' },
] as const;

const LAUNCH = { playerRef: 'ann', gameId: GAME, currency: 'EUR' };
const launch = () => world.signed(OPERATOR, '/v1/operator/sessions', LAUNCH);

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

function expectPaused(reply: Reply, { noun, code }: (typeof CASES)[number]): void {
  expect({ status: reply.status, code: reply.headers.get('x-error-code'), body: reply.json }).toEqual({
    status: 503,
    code,
    body: { error: `the ${noun} is paused` },
  });
  expect(reply.headers.get('x-next-action')).toBe('contact-platform');
}

describe.each(CASES)('a paused $noun', (paused) => {
  const { noun, path, id } = paused;
  const pause = (body: object) => world.admin('POST', `${path}/pause`, body);

  test.each(['REAL', 'DEMO'])('takes no BET and no launch; %s rounds settle', async (mode) => {
    const session = await world.launch({ mode });
    const won = world.transaction(session, 'BET');
    const undone = world.transaction(session, 'BET');
    const lost = world.transaction(session, 'BET');
    const first = await world.submit(won);
    await world.submit(undone);
    if (mode === 'REAL') world.wallet.next({ do: 'drop' }, { transactionId: lost.transactionId });
    await world.submit(lost);

    expect((await pause({ reason: 'moved' })).status).toBe(200);
    const refused = world.transaction(session, 'BET');
    const refusal = await world.submit(refused);
    expectPaused(refusal, paused);
    expect(refusal.headers.get('retry-after')).toBeNull();
    expect(await world.stateOf(refused.transactionId)).toBeUndefined();
    expect(world.wallet.calls(refused.transactionId)).toHaveLength(0);
    expectPaused(await launch(), paused);
    if (mode === 'REAL') expectPaused(await world.submit(lost), paused);

    const replay = await world.submit(won);
    expect({ text: replay.text, replayed: replay.headers.get('idempotency-replayed') }).toEqual({
      text: first.text,
      replayed: 'true',
    });
    const win = world.transaction(session, 'WIN', { roundId: won.roundId });
    expect((await world.submit(win)).json).toMatchObject({ status: 'APPROVED' });
    const { transactionId: originalTransactionId, roundId } = undone;
    const rollback = world.transaction(session, 'ROLLBACK', { originalTransactionId, roundId });
    expect((await world.submit(rollback)).json).toMatchObject({ status: 'APPROVED' });
    expect((await world.balance(session)).status).toBe(200);

    expect((await world.admin('POST', `${path}/resume`)).json).not.toHaveProperty('pause');
    expect((await world.submit(refused)).json).toMatchObject({ status: 'APPROVED' });
    expect((await launch()).status).toBe(201);
  });

  test('is shown, replaced and resumed, and each of it is in the audit log', async () => {
    const since = (await audit()).length;
    const until = inSeconds(3600);
    const first = {
      reason: 'first',
      until,
      by: 'root',
      byName: 'root',
      pausedAt: expect.any(String) as string,
    };
    expect((await pause({ reason: 'first', until })).json['pause']).toEqual(first);
    expect((await world.admin('GET', path)).json['pause']).toEqual(first);
    const list = await world.admin('GET', path.replace(`/${id}`, ''));
    expect(list.json['items']).toContainEqual(expect.objectContaining({ pause: first }));
    const second = { reason: 'second', by: 'root', byName: 'root', pausedAt: expect.any(String) as string };
    expect((await pause({ reason: 'second' })).json['pause']).toEqual(second);
    for (let n = 0; n < 2; n += 1) {
      const resumed = await world.admin('POST', `${path}/resume`);
      expect(resumed.status).toBe(200);
      expect(resumed.json).not.toHaveProperty('pause');
    }
    const entries = (await audit()).slice(0, -since || undefined).reverse();
    const target = `${noun}:${id}`;
    expect(entries).toEqual([
      expect.objectContaining({ action: `${noun}.pause`, target, after: { pause: first } }),
      expect.objectContaining({
        action: `${noun}.pause`,
        target,
        before: { pause: first },
        after: { pause: second },
      }),
      expect.objectContaining({
        action: `${noun}.resume`,
        target,
        before: { pause: second },
        after: { pause: null },
      }),
    ]);
  });

  test('is resumed with an optional reason, which is in the audit log', async () => {
    const resume = (body: object) => world.admin('POST', `${path}/resume`, body);
    for (const body of [{ reason: 'has been moved' }, {}, { reason: null }]) {
      await pause({ reason: 'moved' });
      const resumed = await resume(body);
      expect(resumed.status).toBe(200);
      expect(resumed.json).not.toHaveProperty('pause');
    }
    const afters = (await audit()).slice(0, 6).map((entry) => (entry as { after: object }).after);
    expect(afters.filter((after) => !('pause' in after && after.pause))).toEqual([
      { pause: null },
      { pause: null },
      { pause: null, reason: 'has been moved' },
    ]);
    for (const [body, error] of [
      [{ reason: ' ' }, /^reason must be 1 to 500/],
      [{ reason: 'x'.repeat(501) }, /^reason must be 1 to 500/],
      [{ until: '2099-01-31T06:00:00Z' }, /^"until" is not a known field$/],
    ] as const) {
      expect(await resume(body)).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(error) },
      });
    }
  });

  test('with an end tells callers when to retry', async () => {
    const session = await world.launch();
    await pause({ reason: 'maintenance', until: inSeconds(90.2) });
    for (const reply of [await world.submit(world.transaction(session, 'BET')), await launch()]) {
      expectPaused(reply, paused);
      const seconds = Number(reply.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(91);
    }
  });

  async function audit(): Promise<unknown[]> {
    const { json } = await world.admin('GET', `/v1/admin/audit?target=${noun}:${id}&limit=500`);
    return (json['items'] as { action: string }[]).filter(({ action }) => /\.(pause|resume)$/.test(action));
  }
});

test('a pause takes effect on every instance, and the log has the reason', async () => {
  const [paused] = CASES;
  const session = await world.launch();
  // Both instances know the session, so that their BETs take the shortcut.
  expect((await other.submit(world.transaction(session, 'BET'))).status).toBe(200);
  await world.admin('POST', `${paused.path}/pause`, { reason: 'the wallet is being moved' });
  await vi.waitFor(
    async () => expectPaused(await other.submit(world.transaction(session, 'BET')), paused),
    PATIENCE,
  );
  const reply = await world.submit(world.transaction(session, 'BET'));
  const requestId = reply.headers.get('x-request-id');
  await vi.waitFor(
    () =>
      expect(lines.filter((line) => line['requestId'] === requestId)).toContainEqual(
        expect.objectContaining({
          msg: 'POST /v1/wallet/transaction OPERATOR_NOT_CONFIGURED',
          paused: `operator:${OPERATOR}`,
          pauseReason: 'the wallet is being moved',
        }),
      ),
    PATIENCE,
  );
  await world.admin('POST', `${paused.path}/resume`);
  await vi.waitFor(
    async () => expect((await other.submit(world.transaction(session, 'BET'))).status).toBe(200),
    PATIENCE,
  );
});

test('a pause ends automatically', async () => {
  const path = `/v1/admin/games/${GAME}`;
  const pause = { reason: 'short', until: inSeconds(3) };
  expect((await world.admin('POST', `${path}/pause`, pause)).status).toBe(200);
  expectPaused(await launch(), CASES[2]);
  await vi.waitFor(async () => expect((await launch()).status).toBe(201), PATIENCE);
  expect((await world.admin('GET', path)).json).not.toHaveProperty('pause');
  const session = await world.launch();
  expect((await world.submit(world.transaction(session, 'BET'))).json).toMatchObject({ status: 'APPROVED' });
});

test('a change of a paused game leaves its pause', async () => {
  await world.admin('POST', `/v1/admin/games/${GAME}/pause`, { reason: 'moved' });
  const put = await world.admin('PUT', `/v1/admin/games/${GAME}`, { providerId: PROVIDER, name: 'Renamed' });
  expect(put.json).toMatchObject({ name: 'Renamed', pause: { reason: 'moved' } });
});

test('a pause needs a reason, an end in the future and an existing target', async () => {
  const operator = `/v1/admin/operators/${OPERATOR}`;
  expect((await world.admin('POST', `${operator}/pause`, {})).status).toBe(400);
  const over = await world.admin('POST', `${operator}/pause`, { reason: 'x', until: inSeconds(-1) });
  expect(over).toMatchObject({ status: 400, json: { error: 'until must be in the future' } });
  for (const path of [
    'operators/nobody',
    `operators/${PROVIDER}`,
    `providers/${OPERATOR}`,
    'games/nothing',
  ]) {
    expect((await world.admin('POST', `/v1/admin/${path}/pause`, { reason: 'x' })).status).toBe(404);
    expect((await world.admin('POST', `/v1/admin/${path}/resume`)).status).toBe(404);
  }
});

test('pausing needs the role operations', async () => {
  const promotions = await world.administrator('promotions');
  const operations = await world.administrator('operations', 'Night shift');
  for (const { path } of CASES) {
    for (const action of ['pause', 'resume']) {
      const body = action === 'pause' ? { reason: 'x' } : {};
      const refused = await promotions.call('POST', `${path}/${action}`, body);
      expect(refused).toMatchObject({ status: 403, json: { error: 'this needs the role operations' } });
    }
  }
  const paused = await operations.call('POST', `${CASES[0].path}/pause`, { reason: 'x' });
  expect(paused.json['pause']).toMatchObject({ byName: 'Night shift', by: operations.actor });
});
