import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { TestClock } from '../world/test-clock.js';
import {
  GAME,
  type LaunchedSession,
  OPERATOR,
  PROVIDER,
  type Reply,
  useWorld,
  type World,
} from '../world/world.js';

/** How far the clocks of two instances are off the database's, in seconds. */
const OFFSET_SECONDS = 60;
const LATE_SECONDS = 600;

type Name = 'ahead' | 'behind';
const NAMES = ['ahead', 'behind'] as const;

let instances: Record<Name, World>;
/** The lines that all instances log: an application uses the logger of the first one in its process. */
const lines: string[] = [];

const world = useWorld({ LOG_LEVEL: 'info' }, { write: (line) => void lines.push(line) });
beforeAll(async () => {
  const started = (offsetSeconds: number) => {
    const clock = new TestClock();
    clock.advance(offsetSeconds);
    return world.another(clock);
  };
  instances = {
    ahead: await started(OFFSET_SECONDS),
    behind: await started(-OFFSET_SECONDS),
  };
});
afterAll(async () => {
  for (const name of NAMES) await instances[name].app.close();
});

const outcome = (reply: Reply) => reply.headers.get('x-error-code') ?? String(reply.json['status']);

/** The answer of each instance to a request of its own. */
async function outcomes(request: (instance: World) => Promise<Reply>): Promise<Record<Name, string>> {
  const [ahead, behind] = await Promise.all(
    NAMES.map(async (name) => outcome(await request(instances[name]))),
  );
  return { ahead: ahead!, behind: behind! };
}
const by = (answer: string) => ({ ahead: answer, behind: answer });
const bets = (session: LaunchedSession) => outcomes((each) => each.submit(world.transaction(session, 'BET')));

async function lateSettlement(seconds: number): Promise<void> {
  const change = { lateSettlementSeconds: seconds };
  expect((await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, change)).status).toBe(200);
  for (const name of NAMES) await instances[name].advance(0);
}

describe.each(NAMES)('a session that was revoked by the instance whose clock is %s', (revoker) => {
  test('takes no BET on any instance once the revocation is answered', async () => {
    const session = await world.launch();
    expect((await instances[revoker].revoke(session.sessionId)).status).toBe(200);
    const refused = await Promise.all(Array.from({ length: 25 }, () => bets(session)));
    expect(refused).toEqual(Array(25).fill(by('SESSION_INVALID')));
    const stored = 'SELECT FROM transactions WHERE player_ref = $1';
    expect(await world.sql.run(stored, [session.playerRef])).toEqual([]);
    const { sessionToken } = session;
    for (const route of ['session/verify', 'balance']) {
      const ask = (each: World) => each.signed(PROVIDER, `/v1/wallet/${route}`, { sessionToken });
      expect(await outcomes(ask)).toEqual(by('SESSION_INVALID'));
    }
  });

  test('has its time of revocation from the database’s clock', async () => {
    const session = await world.launch();
    const { json } = await instances[revoker].revoke(session.sessionId);
    expect(Math.abs(Date.parse(String(json['revokedAt'])) - Date.now())).toBeLessThan(10_000);
  });
});

test('a session whose revocation lies in the future has ended, and settles as if it had ended just now', async () => {
  await lateSettlement(LATE_SECONDS);
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  expect((await world.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
  await world.revoke(session.sessionId);
  await world.ageSession(session, -OFFSET_SECONDS);
  expect(await bets(session)).toEqual(by('SESSION_INVALID'));
  const win = () => world.transaction(session, 'WIN', { roundId: bet.roundId });
  expect((await world.submit(win())).json).toMatchObject({ status: 'APPROVED' });
  await lateSettlement(0);
  expect(await outcomes((each) => each.submit(win()))).toEqual(by('SESSION_INVALID'));
});

describe.each(NAMES)('a session that was launched by the instance whose clock is %s', (launcher) => {
  test('expires at the same instant on all instances', async () => {
    const session = await instances[launcher].launch({ ttlSeconds: 30 });
    expect(await bets(session)).toEqual(by('APPROVED'));
    await world.ageSession(session, 31);
    expect(await bets(session)).toEqual(by('SESSION_INVALID'));
  });

  test('allows late settlement for the same time on all instances', async () => {
    await lateSettlement(LATE_SECONDS);
    const session = await instances[launcher].launch({ ttlSeconds: 30 });
    const rounds = [randomUUID(), randomUUID()];
    for (const roundId of rounds) await world.submit(world.transaction(session, 'BET', { roundId }));
    const wins = (roundId: string) =>
      outcomes((each) => each.submit(world.transaction(session, 'WIN', { roundId })));
    await world.ageSession(session, LATE_SECONDS + 10);
    expect(await wins(rounds[0]!)).toEqual(by('APPROVED'));
    await world.ageSession(session, 20);
    expect(await wins(rounds[1]!)).toEqual(by('SESSION_INVALID'));
    await lateSettlement(0);
  });

  test('is live at the desk and among the sessions of its player', async () => {
    const session = await instances[launcher].launch({ ttlSeconds: 30 });
    for (const name of NAMES) {
      const { json } = await instances[name].admin('GET', `/v1/admin/sessions/${session.sessionId}`);
      expect(json['session']).toMatchObject({ status: 'ACTIVE' });
    }
    const path = `/v1/operator/players/${session.playerRef}/revoke-sessions`;
    const other = instances[launcher === 'ahead' ? 'behind' : 'ahead'];
    const reply = await other.signed('lucky-casino', path, { reason: 'SELF_EXCLUSION' });
    expect(reply.json).toEqual({ revoked: [session.sessionId] });
  });
});

test.each(NAMES)(
  'a lease of the instance whose clock is %s is respected by the other until it expires',
  async (name) => {
    const other = instances[name === 'ahead' ? 'behind' : 'ahead'];
    const body = world.transaction(await world.launch(), 'BET');
    const held = world.wallet.next({ do: 'hold' }, { transactionId: body.transactionId });
    const first = instances[name].submit(body);
    await held.arrived;
    expect(outcome(await other.submit(body))).toBe('TRANSACTION_IN_FLIGHT');
    await world.endLease(body.transactionId);
    expect(outcome(await other.submit(body))).toBe('APPROVED');
    held.release();
    expect(outcome(await first)).toBe('APPROVED');
    expect(world.wallet.booked(body.transactionId)?.movements).toBe(1);
  },
);

test.each(NAMES)(
  'a secret that the instance whose clock is %s rotates overlaps for the same time on all instances',
  async (name) => {
    const previous = world.secrets.get(PROVIDER)!;
    const path = `/v1/admin/providers/${PROVIDER}/secret/rotate`;
    const { json } = await instances[name].admin('POST', path, { overlapSeconds: 30 });
    for (const each of [world, ...NAMES.map((other) => instances[other])]) {
      each.secrets.set(PROVIDER, String(json['secret']));
      await each.advance(0);
    }
    const session = await world.launch();
    const verify = (each: World) =>
      each.signed(
        PROVIDER,
        '/v1/wallet/session/verify',
        { sessionToken: session.sessionToken },
        { secret: previous },
      );
    const statuses = () => Promise.all(NAMES.map(async (other) => (await verify(instances[other])).status));
    expect(await statuses()).toEqual([200, 200]);
    await world.sql.run(`UPDATE tenants SET previous_valid_until = clock_timestamp() WHERE id = $1`, [
      PROVIDER,
    ]);
    for (const other of NAMES) await instances[other].advance(0);
    expect(await statuses()).toEqual([401, 401]);
  },
);

// With Redis configured, the nonces are there.
test.skipIf(inject('redisUrl') !== null).each(NAMES)(
  'a nonce that the instance whose clock is %s claims is remembered for the same time',
  async (name) => {
    await world.sql.run('DELETE FROM nonces');
    await instances[name].launch();
    const [row] = await world.sql.run<{ seconds: number }>(
      'SELECT extract(epoch FROM max(expires_at) - clock_timestamp())::float8 AS seconds FROM nonces',
    );
    expect(row!.seconds).toBeGreaterThan(570);
    expect(row!.seconds).toBeLessThanOrEqual(601);
  },
);

test('a nonce that an operator has used at one instance is refused by the other, whatever came between', async () => {
  await world.sql.run('DELETE FROM nonces');
  const nonce = randomUUID();
  const launch = { playerRef: 'ann', gameId: GAME, currency: 'EUR' };
  const launchAt = (instance: World) => instance.signed(OPERATOR, '/v1/operator/sessions', launch, { nonce });
  expect((await launchAt(instances.ahead)).status).toBe(201);
  for (const name of NAMES) await instances[name].launch();
  expect((await launchAt(instances.behind)).text).toBe('invalid signature');
});

test.each(NAMES)(
  'an item is snoozed until a time that is in the future for the database: %s',
  async (name) => {
    const snooze = async (seconds: number) => {
      const until = new Date(Date.now() + seconds * 1000).toISOString();
      return (
        await instances[name].admin('POST', '/v1/admin/attention/snooze', { ids: [randomUUID()], until })
      ).status;
    };
    expect([await snooze(OFFSET_SECONDS / 2), await snooze(-OFFSET_SECONDS / 2)]).toEqual([200, 400]);
  },
);

describe('an instance whose clock differs from the database’s', () => {
  const offsetOf = async (each: World) =>
    Number(/^croupier_clock_offset_seconds (\S+)$/m.exec(await each.metrics())?.[1]);

  test('shows the difference in a metric', async () => {
    expect(Math.abs((await offsetOf(instances.ahead)) - OFFSET_SECONDS)).toBeLessThan(2);
    expect(Math.abs((await offsetOf(instances.behind)) + OFFSET_SECONDS)).toBeLessThan(2);
    expect(Math.abs(await offsetOf(world))).toBeLessThan(2);
  });

  test.each(NAMES)('logs one line, and another when it is corrected: %s', async (name) => {
    const instance = instances[name];
    const offsetSeconds = name === 'ahead' ? OFFSET_SECONDS : -OFFSET_SECONDS;
    const said = (level: number) =>
      lines
        .map((line) => JSON.parse(line) as { level: number; clockOffsetSeconds?: number })
        .filter((line) => line.level === level && line.clockOffsetSeconds !== undefined)
        .map(({ clockOffsetSeconds }) => clockOffsetSeconds!);
    const warnings = () => said(40).filter((offset) => Math.sign(offset) === Math.sign(offsetSeconds));
    const setRight = said(30).length;
    for (let polls = 0; polls < 3; polls += 1) await instance.advance(0);
    expect(warnings()).toEqual([expect.closeTo(offsetSeconds, -0.5)]);
    await instance.advance(-offsetSeconds);
    await instance.advance(0);
    expect([warnings().length, said(30).length]).toEqual([1, setRight + 1]);
    expect(Math.abs(await offsetOf(instance))).toBeLessThan(2);
  });
});
