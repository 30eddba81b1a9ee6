import { describe, expect, test } from 'vitest';
import { GAME, OPERATOR, OTHER_PROVIDER, PROVIDER, useWorld } from '../world/world.js';

const world = useWorld();

const verify = (sessionToken: unknown, provider = PROVIDER) =>
  world.signed(provider, '/v1/wallet/session/verify', { sessionToken });

describe('launch', () => {
  test('answers 201 with a token of 256 bits, the game and its provider', async () => {
    const reply = await world.signed(OPERATOR, '/v1/operator/sessions', {
      playerRef: 'ann',
      gameId: GAME,
      currency: 'EUR',
    });
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      sessionToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) as string,
      sessionId: expect.any(String) as string,
      gameId: GAME,
      providerId: PROVIDER,
      mode: 'REAL',
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
  });

  test.each([
    ['https://play.example', 'https://play.example/?'],
    ['https://play.example/a?b=c%20d&flag&e=%2B#f', 'https://play.example/a?b=c%20d&flag&e=%2B&', '#f'],
    ['https://play.example/?sessionToken=a&b=1&session%54oken=c', 'https://play.example/?b=1&'],
  ])(
    'adds the token to the launchUrl %s, and changes nothing else',
    async (launchUrl, before, after = '') => {
      const game = { providerId: PROVIDER, name: 'Launched', launchUrl };
      await world.admin('PUT', '/v1/admin/games/launched', game);
      const { json } = await world.signed(OPERATOR, '/v1/operator/sessions', {
        playerRef: 'ann',
        gameId: 'launched',
        currency: 'EUR',
      });
      expect(json['launchUrl']).toBe(`${before}sessionToken=${String(json['sessionToken'])}${after}`);
    },
  );

  test('stores no token, only its SHA-256', async () => {
    const session = await world.launch();
    const rows = await world.sql.run<{ row: string }>('SELECT s::text AS row FROM sessions s');
    expect(rows.some(({ row }) => row.includes(session.sessionToken))).toBe(false);
  });
});

describe('verify', () => {
  test('returns the player of the session, and calls no operator', async () => {
    const session = await world.launch({ language: 'en', country: 'DE', mode: 'DEMO' });
    const calls = world.wallet.received.length;
    const reply = await verify(session.sessionToken);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      sessionId: session.sessionId,
      playerRef: session.playerRef,
      gameId: GAME,
      currency: 'EUR',
      operatorId: OPERATOR,
      mode: 'DEMO',
      expiresAt: expect.any(String) as string,
      language: 'en',
      country: 'DE',
    });
    expect(world.wallet.received.length).toBe(calls);
  });

  test('returns what the operator demanded of the session', async () => {
    const demands = { maxBetMinor: 1, jurisdiction: 'MT', realityCheckSeconds: 60 };
    const session = await world.launch(demands);
    expect((await verify(session.sessionToken)).json).toMatchObject(demands);
    const { json } = await world.admin('GET', `/v1/admin/sessions/${session.sessionId}`);
    expect(json['session']).toMatchObject(demands);
    const without = await world.launch({ maxBetMinor: null, jurisdiction: null, realityCheckSeconds: null });
    for (const name of Object.keys(demands))
      expect((await verify(without.sessionToken)).json).not.toHaveProperty(name);
  });

  test.each([
    ['maxBetMinor', 0],
    ['maxBetMinor', 1.5],
    ['maxBetMinor', '100'],
    ['maxBetMinor', Number.MAX_SAFE_INTEGER + 1],
    ['jurisdiction', ''],
    ['jurisdiction', '..'],
    ['jurisdiction', 'Isle of Man'],
    ['jurisdiction', 'x'.repeat(33)],
    ['realityCheckSeconds', 59],
    ['realityCheckSeconds', 86_401],
    ['realityCheckSeconds', 60.5],
  ])('of a launch with %s %j never happens: 400', async (field, value) => {
    const request = { playerRef: 'ann', gameId: GAME, currency: 'EUR', [field]: value };
    const reply = await world.signed(OPERATOR, '/v1/operator/sessions', request);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
    expect(reply.json['error']).toMatch(new RegExp(`^${field} `));
  });

  test('of an unknown token is 401 SESSION_INVALID', async () => {
    const reply = await verify('no such token');
    expect(reply.status).toBe(401);
    expect(reply.headers.get('x-error-code')).toBe('SESSION_INVALID');
    expect(reply.headers.get('x-next-action')).toBe('end-session');
  });

  test('by another provider is 403', async () => {
    const session = await world.launch();
    const reply = await verify(session.sessionToken, OTHER_PROVIDER);
    expect(reply.status).toBe(403);
    expect(reply.headers.get('x-error-code')).toBe('SESSION_OF_ANOTHER_PROVIDER');
  });
});
