import { beforeEach, describe, expect, test } from 'vitest';
import { PLATFORM_ID_PREFIX } from '../../src/wallet/rules/platform-id.js';
import { GAME, OPERATOR, PROVIDER, type LaunchedSession, useWorld } from '../world/world.js';

let session: LaunchedSession;
const world = useWorld();
beforeEach(async () => (session = await world.launch()));

const TRANSACTION = '/v1/wallet/transaction';

async function expectInvalid(body: object | string | Uint8Array, code = 'INVALID_REQUEST'): Promise<void> {
  const reply = await world.signed(PROVIDER, TRANSACTION, body);
  expect({ status: reply.status, code: reply.headers.get('x-error-code') }).toEqual({ status: 400, code });
  expect(Object.keys(reply.json)).toEqual(['error']);
}

const bet = (fields: Record<string, unknown> = {}) => world.transaction(session, 'BET', fields);

describe('a body that is not a JSON object is 400', () => {
  test.each([
    ['nothing', ''],
    ['broken', '{"a":'],
    ['an array', '[]'],
    ['a text', '"text"'],
    ['null', 'null'],
    ['a number', '1'],
    ['two objects', '{}{}'],
    ['extremely nested', '['.repeat(60_000)],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['after a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')])],
  ])('%s', async (_, body) => expectInvalid(body));

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json; foo',
    'application/json; charset="utf-8',
    'application/json; charset=UTF-8; charset=utf-16',
    'multipart/form-data',
    'garbage',
    ';;',
  ])('of Content-Type %s', async (contentType) => {
    const reply = await world.signed(PROVIDER, TRANSACTION, bet(), {
      headers: { 'Content-Type': contentType },
    });
    expect(reply.status).toBe(400);
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json; ; charset=utf-8;',
    'Application/JSON;charset="UTF-8"',
  ])('but Content-Type %s is accepted', async (contentType) => {
    const reply = await world.signed(PROVIDER, TRANSACTION, bet(), {
      headers: { 'Content-Type': contentType },
    });
    expect(reply.json).toMatchObject({ status: 'APPROVED' });
  });
});

describe('a transaction is 400', () => {
  const FIELDS = [
    'sessionToken',
    'transactionId',
    'kind',
    'playerRef',
    'gameId',
    'currency',
    'amountMinor',
    'roundId',
  ];

  test.each(FIELDS)('without %s', async (field) => {
    await expectInvalid({ ...bet(), [field]: undefined });
    await expectInvalid({ ...bet(), [field]: null });
    await expectInvalid({ ...bet(), [field]: {} });
    await expectInvalid({ ...bet(), [field]: [] });
    await expectInvalid({ ...bet(), [field]: '' });
  });

  test.each([-1, 1.5, '100', true, 2 ** 53, 1e300, -0.5])('with amountMinor %j', async (amountMinor) => {
    await expectInvalid(bet({ amountMinor }));
  });

  test.each([
    '9007199254740993',
    '9007199254740990.6',
    '1e-1',
    '9007199254740991.1',
    '1e400',
    '-1',
    '0x10',
    '01',
  ])('with amountMinor written as %s', async (literal) => {
    await expectInvalid(JSON.stringify(bet()).replace('"amountMinor":100', `"amountMinor":${literal}`));
  });

  test.each(['eur', 'EURO', 'EU', 'E1R', ' EUR', 'ÄÖÜ'])('with currency %j', async (currency) => {
    await expectInvalid(bet({ currency }));
  });

  test.each(['a b', 'ä', 'a\u0000b', 'a\nb', 'x'.repeat(129), '.', '..', 'a\u007f', 7])(
    'with the identifier %j',
    async (identifier) => {
      for (const field of ['transactionId', 'playerRef', 'gameId', 'roundId']) {
        await expectInvalid(bet({ [field]: identifier }));
      }
    },
  );

  test('with a transactionId that is reserved for the platform', async () => {
    await expectInvalid(bet({ transactionId: `${PLATFORM_ID_PREFIX}1` }));
  });

  test('of an unknown kind, or of kind ADJUSTMENT, which has its own error code', async () => {
    await expectInvalid(bet({ kind: 'bet' }));
    await expectInvalid(bet({ kind: 'JACKPOT' }));
    await expectInvalid(bet({ kind: 'ADJUSTMENT' }), 'KIND_NOT_ACCEPTED');
  });

  test('with roundClosed that is not a boolean', async () => expectInvalid(bet({ roundClosed: 'true' })));

  test('that is a ROLLBACK without a target', async () => {
    await expectInvalid(world.transaction(session, 'ROLLBACK'));
    await expectInvalid(world.transaction(session, 'ROLLBACK', { originalTransactionId: '' }));
  });

  test.each([
    ['playerRef', 'somebody-else'],
    ['gameId', 'another-game'],
    ['currency', 'USD'],
  ])('whose %s differs from the session: SESSION_MISMATCH', async (field, value) => {
    const body = bet({ [field]: value });
    await expectInvalid(body, 'SESSION_MISMATCH');
    expect(await world.stateOf(body.transactionId)).toBeUndefined();
  });
});

describe('a transaction is accepted', () => {
  test.each(['100', '100.0', '1e2', '1.0E+2', '10000e-2'])(
    'with amountMinor written as %s',
    async (literal) => {
      const body = bet();
      const raw = JSON.stringify(body).replace('"amountMinor":100', `"amountMinor":${literal}`);
      expect((await world.signed(PROVIDER, TRANSACTION, raw)).json).toMatchObject({ balance: 99_900 });
    },
  );

  test('with duplicate keys, of which the last counts', async () => {
    const body = bet();
    const raw = JSON.stringify(body).replace('"amountMinor":100', '"amountMinor":7,"amountMinor":100');
    expect((await world.signed(PROVIDER, TRANSACTION, raw)).json).toMatchObject({ balance: 99_900 });
  });

  test('with unknown fields, __proto__ among them', async () => {
    const raw = JSON.stringify(bet()).replace(
      '{',
      '{"__proto__":{"amountMinor":1,"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1,"deep":[[[{}]]],',
    );
    expect((await world.signed(PROVIDER, TRANSACTION, raw)).json).toMatchObject({ balance: 99_900 });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('with null for an absent field', async () => {
    const body = bet({ roundClosed: null, freeSpinsRef: null, originalTransactionId: null });
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED' });
    expect(Object.keys(world.wallet.calls(body.transactionId)[0]?.json ?? {})).not.toContain('roundClosed');
  });

  test.each(['__proto__', 'constructor', 'a/b?c=d&e', '"quoted"', "';DROP/**/TABLE/**/rounds;--", '%00'])(
    'with the identifier %j',
    async (identifier) => {
      const body = bet({ transactionId: `${identifier}-${session.sessionId}`, roundId: identifier });
      expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED' });
      expect((await world.submit(body)).headers.get('idempotency-replayed')).toBe('true');
    },
  );
});

describe('a session token', () => {
  test.each([undefined, null, '', 7, {}, ['x']])('of %j is 400', async (sessionToken) => {
    for (const path of ['/v1/wallet/session/verify', '/v1/wallet/balance']) {
      const reply = await world.signed(PROVIDER, path, { sessionToken });
      expect(reply.status).toBe(400);
      expect(reply.headers.get('x-next-action')).toBe('fix-request');
    }
  });
});

describe('a launch is 400', () => {
  test.each([
    ['an unknown field', { colour: 'red' }],
    ['__proto__', JSON.parse('{"__proto__":{"a":1}}') as object],
    ['an unknown mode', { mode: 'FUN' }],
    ['a lifetime of 0', { ttlSeconds: 0 }],
    ['a lifetime with a fraction', { ttlSeconds: 1.5 }],
    ['a lifetime above the bound', { ttlSeconds: 1e12 }],
    ['a player with a space', { playerRef: 'a b' }],
    ['a currency in lower case', { currency: 'eur' }],
    ['a country in words', { country: 'Germany' }],
  ])('with %s', async (_, fields) => {
    const request = { playerRef: 'ann', gameId: GAME, currency: 'EUR' };
    const raw = JSON.stringify(request).replace('}', `,${JSON.stringify(fields).slice(1)}`);
    const reply = await world.signed(OPERATOR, '/v1/operator/sessions', raw);
    expect(reply.status).toBe(400);
    expect(reply.headers.get('x-error-code')).toBe('INVALID_REQUEST');
  });

  test('but 503 with an unknown game', async () => {
    const request = { playerRef: 'ann', gameId: 'no-such-game', currency: 'EUR' };
    const reply = await world.signed(OPERATOR, '/v1/operator/sessions', request);
    expect(reply.status).toBe(503);
    expect(reply.headers.get('x-error-code')).toBe('GAME_NOT_CONFIGURED');
    expect(reply.headers.get('x-next-action')).toBe('contact-platform');
  });
});
