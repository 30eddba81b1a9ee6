import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { Tool, until } from '../free-spins/tool.js';
import { REVOKE } from '../world/provider.js';
import {
  FOREIGN_GAME,
  GAME,
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  useWorld,
} from '../world/world.js';

const CALLBACK_TIMEOUT_MS = 1500;
/** Maximum number of queued notifications of one provider that one instance has in flight. */
const AT_ONCE = 8;

const environment = { CALLBACK_TIMEOUT_MS: String(CALLBACK_TIMEOUT_MS) };
const world = useWorld(environment);
const tool = new Tool(world);

const notificationsTo = (sessionId: string) =>
  world.provider.calls(REVOKE).filter(({ json }) => json['sessionId'] === sessionId);

const isNotified = (sessionId: string) => notificationsTo(sessionId).length > 0;

const notificationOf = async (sessionId: string) => (await world.revoke(sessionId)).json['notification'];

/** Expires the lease of this session's notification, as if its instance had died. */
const endLease = (sessionId: string) =>
  world.sql.run(
    `UPDATE session_revocations SET lease_until = clock_timestamp() - interval '1 second' WHERE session_id = $1`,
    [sessionId],
  );

describe('a revocation', () => {
  test('ends the session, notifies its provider once, and reports the outcome', async () => {
    const session = await world.launch();
    const reply = await world.revoke(session.sessionId);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      sessionId: session.sessionId,
      status: 'REVOKED',
      revokedAt: expect.stringMatching(/Z$/) as string,
      notification: { delivered: true, status: 200 },
    });
    const [call, ...more] = notificationsTo(session.sessionId);
    expect(more).toEqual([]);
    expect(call).toMatchObject({ signatureOk: true, nonceFresh: true });
    expect(call?.headers['x-tenant-id']).toBe(PROVIDER);
    expect(call?.json).toEqual({
      revocationRef: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      sessionId: session.sessionId,
      playerRef: session.playerRef,
      gameId: GAME,
      reason: 'KICK',
      revokedAt: reply.json['revokedAt'],
    });
    expect(await tool.callbacks(session.sessionId)).toMatchObject([
      { route: REVOKE, status: 200, error: null },
    ]);
  });

  test('closes the session before the provider is notified, for every wallet call and on every instance', async () => {
    const session = await world.launch();
    const other = await world.another(world.clock, environment);
    const held = world.provider.next({ do: 'hold' }, { sessionId: session.sessionId });
    const reply = world.revoke(session.sessionId);
    await held.arrived;
    const body = { sessionToken: session.sessionToken };
    const calls = [
      ['/v1/wallet/session/verify', body],
      ['/v1/wallet/balance', body],
      ...['BET', 'WIN'].map((kind) => ['/v1/wallet/transaction', world.transaction(session, kind)] as const),
    ] as const;
    for (const at of [world, other]) {
      for (const [path, sent] of calls) {
        const answer = await at.signed(PROVIDER, path, sent);
        expect([answer.status, answer.headers.get('x-error-code')]).toEqual([401, 'SESSION_INVALID']);
      }
    }
    expect(await notificationOf(session.sessionId)).toEqual({ delivered: false, error: 'pending' });
    held.release();
    expect((await reply).json['notification']).toEqual({ delivered: true, status: 200 });
    await other.app.close();
  });

  test('a second time changes nothing, sends no notification, and reports the outcome of the first', async () => {
    const session = await world.launch();
    world.provider.next({ do: 'answer', status: 500 }, { sessionId: session.sessionId });
    const first = await world.revoke(session.sessionId);
    expect(first.json['notification']).toEqual({
      delivered: false,
      status: 500,
      error: 'the provider answered 500',
    });
    const second = await world.signed(OPERATOR, `/v1/operator/sessions/${session.sessionId}/revoke`, {
      reason: 'FRAUD_HOLD',
    });
    expect(second.json).toEqual(first.json);
    expect(notificationsTo(session.sessionId)).toHaveLength(1);
  });

  test('that was not delivered is sent once more by an administrator, until it is', async () => {
    const { sessionId } = await world.launch();
    const notify = () => world.admin('POST', `/v1/admin/sessions/${sessionId}/notify`);
    expect((await notify()).json['error']).toBe('the session is not revoked');
    world.provider.next({ do: 'answer', status: 500 }, { sessionId });
    const { revokedAt } = (await world.revoke(sessionId)).json;
    world.provider.next({ do: 'answer', status: 503 }, { sessionId });
    expect((await notify()).json['notification']).toMatchObject({ delivered: false, status: 503 });

    const held = world.provider.next({ do: 'hold' }, { sessionId });
    const reply = notify();
    await held.arrived;
    const meanwhile = await notify();
    expect([meanwhile.status, meanwhile.headers.get('x-next-action')]).toEqual([409, 'wait-then-retry']);
    // The lease of the first attempt expires. A second attempt fails, and then the first one is delivered.
    await endLease(sessionId);
    world.provider.next({ do: 'answer', status: 500 }, { sessionId });
    expect((await notify()).json['notification']).toMatchObject({ delivered: false });
    held.release();
    const notification = { delivered: true, status: 200 };
    expect((await reply).json).toEqual({ sessionId, status: 'REVOKED', revokedAt, notification });
    expect(await notificationOf(sessionId)).toEqual(notification);
    expect((await notify()).json['error']).toBe('the notification was delivered');
    expect(new Set(notificationsTo(sessionId).map(({ json }) => json['revocationRef'])).size).toBe(1);
    expect(notificationsTo(sessionId)).toHaveLength(4);
    expect((await world.admin('POST', `/v1/admin/sessions/${randomUUID()}/notify`)).status).toBe(404);
  });

  test('stays under way if an earlier attempt, which seemed dead, fails meanwhile', async () => {
    const { sessionId } = await world.launch();
    const notify = () => world.admin('POST', `/v1/admin/sessions/${sessionId}/notify`);
    world.provider.next({ do: 'answer', status: 500 }, { sessionId });
    await world.revoke(sessionId);
    const failing = { do: 'hold', then: { do: 'answer', status: 500 } } as const;
    const earlier = world.provider.next(failing, { sessionId });
    const earlierReply = notify();
    await earlier.arrived;
    await endLease(sessionId);
    const later = world.provider.next({ do: 'hold' }, { sessionId });
    const laterReply = notify();
    await later.arrived;
    earlier.release();
    await earlierReply;
    expect((await notify()).headers.get('x-next-action')).toBe('wait-then-retry');
    later.release();
    expect((await laterReply).json['notification']).toEqual({ delivered: true, status: 200 });
  });

  test('that an early version did not record cannot be sent by an administrator', async () => {
    const { sessionId } = await world.launch();
    await world.sql.run(
      `UPDATE sessions SET revoked_at = now(), revoke_reason = 'KICK' WHERE session_id = $1`,
      [sessionId],
    );
    expect(await notificationOf(sessionId)).toEqual({
      delivered: false,
      error: 'the provider was not notified',
    });
    const reply = await world.admin('POST', `/v1/admin/sessions/${sessionId}/notify`);
    expect([reply.status, reply.headers.get('x-next-action')]).toEqual([409, 'fix-request']);
    expect(reply.json['error']).toBe('the provider was not notified');
  });

  test('that is requested many times at once notifies the provider once', async () => {
    const session = await world.launch();
    const replies = await Promise.all(Array.from({ length: 20 }, () => world.revoke(session.sessionId)));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect(new Set(replies.map(({ json }) => json['revokedAt'])).size).toBe(1);
    expect(notificationsTo(session.sessionId)).toHaveLength(1);
  });

  test('of an expired or a DEMO session, or one of a disabled provider, is notified, too', async () => {
    const expired = await world.launch({ ttlSeconds: 1 });
    await world.sql.run(`UPDATE sessions SET expires_at = created_at WHERE session_id = $1`, [
      expired.sessionId,
    ]);
    const demo = await world.launch({ mode: 'DEMO' });
    const foreign = await world.launch({ gameId: FOREIGN_GAME });
    await world.admin('PATCH', `/v1/admin/providers/${OTHER_PROVIDER}`, { status: 'DISABLED' });
    for (const { sessionId } of [expired, demo, foreign]) {
      expect((await world.revoke(sessionId)).json['notification']).toEqual({ delivered: true, status: 200 });
    }
    await world.admin('PATCH', `/v1/admin/providers/${OTHER_PROVIDER}`, { status: 'ACTIVE' });
  });

  test('whose instance died during the notification is not pending for ever, and is never sent again', async () => {
    const session = await world.launch();
    const held = world.provider.next({ do: 'hold' }, { sessionId: session.sessionId });
    const reply = world.revoke(session.sessionId);
    await held.arrived;
    await endLease(session.sessionId);
    expect(await notificationOf(session.sessionId)).toEqual({
      delivered: false,
      error: 'the outcome is not known: the platform may have stopped while the provider was being notified',
    });
    held.release();
    await reply;
    expect(notificationsTo(session.sessionId)).toHaveLength(1);
  });

  test('whose instance died before the notification is sent by another', async () => {
    const session = await world.launch();
    await world.sql.run(
      `WITH revoked AS (UPDATE sessions SET revoked_at = now(), revoke_reason = 'KICK' WHERE session_id = $1)
       INSERT INTO session_revocations (session_id, lease_until) VALUES ($1, clock_timestamp() + interval '1 hour')`,
      [session.sessionId],
    );
    expect(await notificationOf(session.sessionId)).toEqual({ delivered: false, error: 'pending' });
    await endLease(session.sessionId);
    await until('the provider is notified', () => notificationsTo(session.sessionId).length === 1);
    await until(
      'the outcome is known',
      async () => ((await notificationOf(session.sessionId)) as { delivered: boolean }).delivered,
    );
    expect(notificationsTo(session.sessionId)).toHaveLength(1);
  });

  test('is possible for an operator’s own sessions, and for an administrator for all', async () => {
    const session = await world.launch();
    const path = `/v1/operator/sessions/${session.sessionId}/revoke`;
    expect((await world.signed(OTHER_OPERATOR, path, { reason: 'KICK' })).status).toBe(404);
    const admin = (sessionId: string, body: object = { reason: 'SELF_EXCLUSION' }) =>
      world.admin('POST', `/v1/admin/sessions/${sessionId}/revoke`, body);
    expect((await admin(session.sessionId, { reason: 'BOREDOM' })).status).toBe(400);
    expect((await admin(randomUUID())).status).toBe(404);
    expect(notificationsTo(session.sessionId)).toEqual([]);
    const reply = await admin(session.sessionId);
    expect(reply.json).toMatchObject({ status: 'REVOKED', notification: { delivered: true, status: 200 } });
    expect((await world.revoke(session.sessionId)).json).toEqual(reply.json);
    expect(notificationsTo(session.sessionId).map(({ json }) => json['reason'])).toEqual(['SELF_EXCLUSION']);
    const bare = await world.request(`/v1/admin/sessions/${session.sessionId}/revoke`, { method: 'POST' });
    expect(bare.status).toBe(401);
  });
});

describe('a revocation of all sessions of a player', () => {
  const revokeAll = (playerRef: string) =>
    world.signed(OPERATOR, `/v1/operator/players/${playerRef}/revoke-sessions`, { reason: 'SELF_EXCLUSION' });
  const launched = async (count: number, playerRef: string, gameId = GAME) => {
    const sessions = [];
    for (let index = 0; index < count; index += 1)
      sessions.push((await world.launch({ playerRef, gameId })).sessionId);
    return sessions;
  };

  test('is named by the request id of each notification', async () => {
    const playerRef = `player-${randomUUID()}`;
    const sessions = await launched(AT_ONCE + 2, playerRef);
    const headers = { 'X-Request-Id': `exclusion-${randomUUID()}` };
    const path = `/v1/operator/players/${playerRef}/revoke-sessions`;
    await world.signed(OPERATOR, path, { reason: 'SELF_EXCLUSION' }, { headers });
    const named = sessions.flatMap((id) => notificationsTo(id).map(({ headers: of }) => of['x-request-id']));
    expect(named).toEqual(sessions.map(() => headers['X-Request-Id']));
  });

  test('closes all of them before the first provider is notified, and notifies of each once', async () => {
    const playerRef = `player-${randomUUID()}`;
    const sessions = await launched(20, playerRef);
    const elsewhere = await world.launch({ playerRef }, OTHER_OPERATOR);
    const held = world.provider.always({ do: 'hold' }, { playerRef });
    const reply = revokeAll(playerRef);
    await held.arrived;
    const open = `SELECT FROM sessions WHERE player_ref = $1 AND operator_id = $2 AND revoked_at IS NULL`;
    expect(await world.sql.run(open, [playerRef, OPERATOR])).toEqual([]);
    const calls = () => sessions.filter(isNotified).length;
    await until('the maximum number is in flight', () => calls() === AT_ONCE);
    held.withdraw();
    held.release();
    expect(new Set((await reply).json['revoked'] as string[])).toEqual(new Set(sessions));
    await until('all are notified', () => calls() === sessions.length);
    expect(sessions.map((sessionId) => notificationsTo(sessionId).length)).toEqual(sessions.map(() => 1));
    expect(notificationsTo(elsewhere.sessionId)).toEqual([]);
    expect((await revokeAll(playerRef)).json).toEqual({ revoked: [] });
    expect(await notificationOf(sessions[0] ?? '')).toEqual({ delivered: true, status: 200 });
  });

  describe('with thousands of them', () => {
    const COUNT = 2_500;
    const AT_ONE_STEP = 1_000;
    // The notifications would delay those of the following tests.
    afterEach(() => world.sql.run('DELETE FROM session_revocations WHERE NOT sent'));

    /** Sessions of the same age, some of which are launched together. */
    const insertMany = async (playerRef: string) => {
      const rows = await world.sql.run<{ sessionId: string }>(
        `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                               created_at, expires_at)
         SELECT gen_random_uuid(), sha256(convert_to($1 || n, 'UTF8')), $2, $3, $1, $4, 'EUR', 'REAL',
                now() - make_interval(secs => n / 7 * 0.0001), now() + interval '1 day'
           FROM generate_series(1, $5::integer) n
         RETURNING session_id AS "sessionId"`,
        [playerRef, OPERATOR, PROVIDER, GAME, COUNT],
      );
      return rows.map(({ sessionId }) => sessionId);
    };

    /** The sessions in each audit entry, the newest entry first. */
    const entriesOf = async (playerRef: string) => {
      const path = `/v1/admin/audit?target=${encodeURIComponent(`player:${OPERATOR}/${playerRef}`)}`;
      const { items } = (await world.admin('GET', path)).json as {
        items: { after: { reason: string; sessions: string[] } }[];
      };
      return items.map(({ after }) => after.sessions);
    };

    test('closes them in steps, each with an entry in the audit log, before the first provider is notified', async () => {
      const playerRef = `player-${randomUUID()}`;
      const sessions = await insertMany(playerRef);
      const elsewhere = await world.launch({ playerRef }, OTHER_OPERATOR);
      const held = world.provider.always({ do: 'hold' }, { playerRef });
      const reply = revokeAll(playerRef);
      await held.arrived;
      const open = await world.sql.run<{ sessionId: string }>(
        `SELECT session_id AS "sessionId" FROM sessions WHERE player_ref = $1 AND revoked_at IS NULL`,
        [playerRef],
      );
      expect(open).toEqual([{ sessionId: elsewhere.sessionId }]);
      held.withdraw();
      held.release();
      const revoked = (await reply).json['revoked'] as string[];
      expect([revoked.length, new Set(revoked)]).toEqual([COUNT, new Set(sessions)]);
      const entries = await entriesOf(playerRef);
      expect(entries.map(({ length }) => length)).toEqual([
        COUNT - 2 * AT_ONE_STEP,
        AT_ONE_STEP,
        AT_ONE_STEP,
      ]);
      expect(new Set(entries.flat())).toEqual(new Set(sessions));
    });

    test('closes the rest if it is sent again after it failed', async () => {
      const playerRef = `player-${randomUUID()}`;
      const sessions = await insertMany(playerRef);
      // The oldest session is in the last step.
      await world.sql.run(
        `CREATE FUNCTION refuse_revocation() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''away''; END'`,
      );
      await world.sql.run(
        `CREATE TRIGGER refuse_revocation BEFORE UPDATE ON sessions FOR EACH ROW
           WHEN (OLD.token_hash = sha256('${playerRef}${COUNT}')) EXECUTE FUNCTION refuse_revocation()`,
      );
      const live = async () =>
        (
          await world.sql.run('SELECT FROM sessions WHERE player_ref = $1 AND revoked_at IS NULL', [
            playerRef,
          ])
        ).length;
      try {
        expect((await revokeAll(playerRef)).status).toBe(500);
        expect(await live()).toBe(COUNT - 2 * AT_ONE_STEP);
      } finally {
        await world.sql.run('DROP FUNCTION refuse_revocation CASCADE');
      }
      const rest = (await revokeAll(playerRef)).json['revoked'] as string[];
      expect([rest.length, await live()]).toEqual([COUNT - 2 * AT_ONE_STEP, 0]);
      const entries = await entriesOf(playerRef);
      expect(entries).toHaveLength(3);
      expect(new Set(entries.flat())).toEqual(new Set(sessions));
    });
  });

  test('does not wait longer than one notification may take', async () => {
    const playerRef = `player-${randomUUID()}`;
    const sessions = await launched(2 * AT_ONCE + 1, playerRef);
    const silent = world.provider.always({ do: 'hang' }, { playerRef });
    expect(((await revokeAll(playerRef)).json['revoked'] as string[]).length).toBe(sessions.length);
    // The last one is sent only after two others, one after the other, have timed out.
    expect(sessions.filter(isNotified).length).toBeLessThan(sessions.length);
    await until('all are notified', () =>
      sessions.every((sessionId) => notificationsTo(sessionId).length === 1),
    );
    silent.withdraw();
  });

  test('notifies a provider at once while another one does not answer', async () => {
    const [playerRef, other] = [`player-${randomUUID()}`, `player-${randomUUID()}`];
    const silent = await launched(3 * AT_ONCE, playerRef);
    const answering = await launched(AT_ONCE + 1, other, FOREIGN_GAME);
    const held = world.provider.always({ do: 'hold' }, { playerRef });
    const reply = revokeAll(playerRef);
    await held.arrived;
    expect((await revokeAll(other)).status).toBe(200);
    expect(answering.filter(isNotified)).toEqual(answering);
    expect(silent.filter(isNotified).length).toBeLessThan(silent.length);
    held.release();
    held.withdraw();
    await reply;
  });

  test('left unsent again is found, even if its row was stored by a version that did not store the provider', async () => {
    const { sessionId } = await world.launch();
    world.provider.next({ do: 'answer', status: 500 }, { sessionId });
    await world.revoke(sessionId);
    await world.sql.run('UPDATE session_revocations SET provider_id = NULL WHERE session_id = $1', [
      sessionId,
    ]);
    await world.sql.run(
      `UPDATE session_revocations
          SET sent = false, delivered = NULL, status = NULL, error = NULL, lease_until = clock_timestamp()
        WHERE session_id = $1`,
      [sessionId],
    );
    await until('it is sent', () => notificationsTo(sessionId).length === 2);
  });

  test('left unsent is notified at once, however many of another provider wait', async () => {
    const playerRef = `player-${randomUUID()}`;
    const [answering = ''] = await launched(1, playerRef, FOREIGN_GAME);
    const silent = world.provider.always({ do: 'hold' }, { playerRef: 'waits' });
    await world.sql.run(
      `WITH launched AS (
         INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                               created_at, expires_at, revoked_at, revoke_reason)
         SELECT gen_random_uuid(), sha256(convert_to('waits' || n, 'UTF8')), $1, $2, 'waits', $3, 'EUR', 'REAL', now(),
                now() + interval '1 day', now(), 'KICK'
           FROM generate_series(1, 25000) n
         RETURNING session_id)
       INSERT INTO session_revocations (session_id, lease_until)
       SELECT session_id, clock_timestamp() - interval '2 seconds' FROM launched`,
      [OPERATOR, PROVIDER, GAME],
    );
    await world.sql.run(
      `WITH revoked AS (
         UPDATE sessions SET revoked_at = now(), revoke_reason = 'KICK' WHERE session_id = $1 RETURNING session_id)
       INSERT INTO session_revocations (session_id, lease_until)
       SELECT session_id, clock_timestamp() - interval '1 second' FROM revoked`,
      [answering],
    );
    await until('the provider that answers is notified', () => isNotified(answering));
    await world.sql.run('DELETE FROM session_revocations WHERE NOT sent');
    silent.release();
    silent.withdraw();
  });

  test('left unsent is notified at once while another provider does not answer', async () => {
    const playerRef = `player-${randomUUID()}`;
    const silent = await launched(3 * AT_ONCE, playerRef);
    const [answering = ''] = await launched(1, playerRef, FOREIGN_GAME);
    const held = world.provider.always(
      { do: 'hold' },
      { where: ({ json }) => silent.includes(String(json['sessionId'])) },
    );
    await world.sql.run(
      `WITH revoked AS (
         UPDATE sessions SET revoked_at = now(), revoke_reason = 'KICK' WHERE player_ref = $1 RETURNING session_id)
       INSERT INTO session_revocations (session_id, lease_until)
       SELECT session_id, clock_timestamp() - make_interval(secs => CASE WHEN session_id = $2 THEN 1 ELSE 2 END)
         FROM revoked`,
      [playerRef, answering],
    );
    await until('the provider that answers is notified', () => notificationsTo(answering).length === 1);
    expect(silent.filter(isNotified).length).toBeLessThan(silent.length);
    held.release();
    held.withdraw();
    await until('all are notified', () =>
      silent.every((sessionId) => notificationsTo(sessionId).length === 1),
    );
  });
});
