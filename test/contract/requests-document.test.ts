import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../src/errors/catalogue.js';
import {
  type LaunchedSession,
  OPERATOR,
  type Administrator,
  PROVIDER,
  type Reply,
  type SignedOptions,
  useWorld,
} from '../world/world.js';
import { documentedRows, executedTable, expectDocumented } from './document.js';

let session: LaunchedSession;
let support: Administrator;

const world = useWorld();
beforeAll(async () => {
  session = await world.launch();
  support = await world.administrator('support');
});

describe('section 1, the table of signatures', () => {
  const path = '/v1/wallet/session/verify';
  const verify = (options: SignedOptions = {}, signedPath = path) => {
    const raw = JSON.stringify({ sessionToken: session.sessionToken });
    const headers = { ...world.signature(PROVIDER, signedPath, raw, options), ...options.headers };
    return send(headers, raw);
  };
  const send = (headers: Record<string, string>, body: string) =>
    world.request(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
  const without = (name: string) => {
    const raw = JSON.stringify({ sessionToken: session.sessionToken });
    const headers = Object.entries(world.signature(PROVIDER, path, raw));
    return send(Object.fromEntries(headers.filter(([header]) => header !== name)), raw);
  };
  const now = () => world.clock.unixSeconds();

  test.each(
    documentedRows<() => Promise<Reply>>('signature', {
      'is signed correctly': () => verify(),
      'lacks `X-Tenant-ID`': () => without('X-Tenant-ID'),
      'lacks `X-Timestamp`': () => without('X-Timestamp'),
      'lacks `X-Nonce`': () => without('X-Nonce'),
      'lacks `X-Signature`': () => without('X-Signature'),
      'names an unknown tenant': () => verify({ tenantId: 'nobody' }),
      'is signed with another secret': () => verify({ secret: 'another secret' }),
      'was signed for another path': () => verify({}, '/v1/wallet/balance'),
      'was signed for another body': () => send(world.signature(PROVIDER, path, '{}'), '{ }'),
      'has a timestamp 301 seconds old': () => verify({ timestamp: now() - 301 }),
      'has a timestamp 301 seconds in the future': () => verify({ timestamp: now() + 301 }),
      'has a timestamp in milliseconds': () => verify({ headers: { 'X-Timestamp': `${now() * 1000}` } }),
      'has a nonce of 7 characters': () => verify({ headers: { 'X-Nonce': 'seven-7' } }),
      'repeats a nonce': async () => {
        const nonce = `nonce-of-${session.sessionId}`;
        await verify({ nonce });
        return verify({ nonce });
      },
      'has a signature in upper case': () => {
        const raw = JSON.stringify({ sessionToken: session.sessionToken });
        const headers = world.signature(PROVIDER, path, raw);
        return send({ ...headers, 'X-Signature': headers['X-Signature'].toUpperCase() }, raw);
      },
      "is an operator's, on a provider's route": () =>
        verify({ tenantId: OPERATOR, secret: world.secrets.get(OPERATOR) ?? '' }),
    }),
  )('$row.0: $row.1', async ({ row, scenario }) => {
    expectDocumented(await scenario(), row[1] ?? '');
  });
});

test('section 2, the table of errors is the catalogue', () => {
  const documented = executedTable('errors').map((row) => row.slice(0, 3).join(' ').replaceAll('`', ''));
  const catalogue = Object.entries(CATALOGUE).map(
    ([code, { status, nextAction }]) => `${status} ${code} ${nextAction}`,
  );
  expect(documented.sort()).toEqual(catalogue.sort());
});

const TRANSACTION = '/v1/wallet/transaction';

/** Submits a valid BET with these fields. */
const bet = (fields: object = {}) => world.submit({ ...world.transaction(session, 'BET'), ...fields });

/** Submits a valid BET whose JSON has a literal in place of its amount. */
const betOf = (literal: string) => {
  const body = JSON.stringify(world.transaction(session, 'BET', { amountMinor: 'LITERAL' }));
  return world.signed(PROVIDER, TRANSACTION, body.replace('"LITERAL"', literal));
};

const verify = (contentType: string) =>
  world.signed(
    PROVIDER,
    '/v1/wallet/session/verify',
    { sessionToken: session.sessionToken },
    { headers: { 'Content-Type': contentType } },
  );

const list = (query: string) => world.admin('GET', `/v1/admin/transactions?${query}`);

/** By what the request is sent to, and by what it is sent with. */
const SCENARIOS: Record<string, Record<string, () => Promise<Reply>>> = {
  'a path that does not exist': { 'no signature': () => world.request('/v1/wallet/nothing') },
  '`/v1/rgs/behavior`': { 'no signature': () => world.request('/v1/rgs/behavior', { method: 'POST' }) },
  'a wallet route': {
    'a method other than POST': () => world.request(TRANSACTION),
    '`Content-Type: text/plain`': () => verify('text/plain'),
    '`Content-Type: application/json; charset=utf-8`': () => verify('application/json; charset=utf-8'),
    'a body that is not JSON': () => world.signed(PROVIDER, TRANSACTION, '{'),
    'a body that is a JSON list': () => world.signed(PROVIDER, TRANSACTION, '[]'),
    'a body of more than 64 KiB': () => bet({ padding: 'x'.repeat(64 * 1024) }),
    '`Content-Encoding: gzip`': () => {
      const body = gzipSync(JSON.stringify(world.transaction(session, 'BET')));
      return world.signed(PROVIDER, TRANSACTION, body, { headers: { 'Content-Encoding': 'gzip' } });
    },
    'an unknown field': () => bet({ unknown: true }),
    '`null` for an optional field': () => bet({ freeSpinsRef: null }),
    'a field twice, the last time with a valid value': () => betOf('-1,"amountMinor":100'),
    '`amountMinor` 1.0': () => betOf('1.0'),
    '`amountMinor` 1e2': () => betOf('1e2'),
    '`amountMinor` 1.5': () => betOf('1.5'),
    '`amountMinor` "100"': () => betOf('"100"'),
    '`amountMinor` -1': () => betOf('-1'),
    '`amountMinor` 9007199254740992': () => betOf('9007199254740992'),
    '`currency` eur': () => bet({ currency: 'eur' }),
    'a `roundId` of 129 characters': () => bet({ roundId: 'r'.repeat(129) }),
    'a `roundId` with a space': () => bet({ roundId: 'round 7' }),
    'the `roundId` `..`': () => bet({ roundId: '..' }),
    'a `transactionId` that begins with `croupier-`': () =>
      bet({ transactionId: `croupier-${randomUUID()}` }),
    'the kind ADJUSTMENT': () => bet({ kind: 'ADJUSTMENT' }),
  },
  'an operator route': {
    'an unknown field': () => {
      const launch = { playerRef: 'player-1', gameId: session.gameId, currency: 'EUR', unknown: true };
      return world.signed(OPERATOR, '/v1/operator/sessions', launch);
    },
  },
  "an operator's list": {
    'an `operatorId`, even its own': () =>
      world.signedGet(OPERATOR, `/v1/operator/transactions?operatorId=${OPERATOR}`),
  },
  'an admin route': {
    'an unknown field': () =>
      world.admin('POST', '/v1/admin/keys', { name: 'n', role: 'support', unknown: 1 }),
    'no key': () => world.request('/v1/admin/providers'),
    'a key whose role is too low': () => support.call('GET', '/v1/admin/keys'),
  },
  'a POST without body': {
    'a field': () =>
      world.admin('POST', `/v1/admin/sessions/${session.sessionId}/notify`, { reason: 'KICK' }),
  },
  'an admin list': {
    'an unknown query parameter': () => list('unknown=1'),
    'a query parameter twice': () => list('limit=1&limit=1'),
    '`limit=501`': () => list('limit=501'),
    'a time without `Z` or an offset': () => list('from=2026-01-31T12:00:00'),
    'a date without a time': () => list('from=2026-01-31'),
  },
};

describe('section 2, the table of requests', () => {
  const scenarios = Object.entries(SCENARIOS).flatMap(([target, byContent]) =>
    Object.entries(byContent).map(([content, scenario]) => [`${target} | ${content}`, scenario] as const),
  );
  test.each(documentedRows('requests', Object.fromEntries(scenarios), 2))(
    '$row.0, $row.1: $row.2',
    async ({ row: [, , answer = ''], scenario }) => {
      const { status, json } = await expectStatus(scenario(), answer);
      expect(status === 200 || typeof json['error'] === 'string').toBe(true);
    },
  );
});

test.each(['+02', '+0200'])(
  'section 2, a time with the offset %s is refused with an example',
  async (offset) => {
    const from = (zone: string) => list(`from=${encodeURIComponent(`2026-01-31T12:00:00${zone}`)}`);
    expect(await from(offset)).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('an offset such as +02:00') },
    });
    expect((await from('+02:00')).status).toBe(200);
  },
);

/** A success is compared by its status only, because another section describes its body. */
async function expectStatus(sent: Promise<Reply>, answer: string): Promise<Reply> {
  const reply = await sent;
  if (answer === '200') expect(reply.status).toBe(200);
  else expectDocumented(reply, answer);
  return reply;
}
