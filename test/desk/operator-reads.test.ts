import { beforeAll, describe, expect, test } from 'vitest';
import { columnsOf } from '../../src/api/lists/item.js';
import { OwnRoundDetail, OwnTransactionDetail } from '../../src/desk/operator-desk.response.js';
import type { LaunchedSession } from '../world/world.js';
import { CSV, GAME, OPERATOR, OTHER_OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { type Body, timedOut } from './desk.js';

const world = useWorld();

/** Both operators have the player, and a round of the same id. */
const playerRef = 'the-player-of-two-operators';
const roundId = 'the-round-of-two-operators';
const SESSIONS = {} as Record<string, LaunchedSession>;
const BETS = {} as Record<string, Body>;
const UNANSWERED = {} as Record<string, Body>;

beforeAll(async () => {
  for (const operator of [OPERATOR, OTHER_OPERATOR]) {
    const session = await world.launch({ playerRef }, operator);
    SESSIONS[operator] = session;
    const bet = (BETS[operator] = world.transaction(session, 'BET', { roundId, amountMinor: 250 }));
    const undone = world.transaction(session, 'BET', { roundId });
    const rollback = { roundId, originalTransactionId: undone.transactionId };
    for (const body of [bet, undone, world.transaction(session, 'ROLLBACK', rollback)])
      expect((await world.submit(body)).status).toBe(200);
    UNANSWERED[operator] = await timedOut(world, world.transaction(session, 'BET'), false);
  }
});

const read = (operator: string, path: string, headers = {}) =>
  world.signedGet(operator, `/v1/operator/${path}`, headers);
const csvOfAdmin = (path: string) => world.admin('GET', `/v1/admin/${path}`, undefined, CSV);

const HIDDEN = ['advice', 'responseBody', 'operatorRequest', 'operatorBody', 'body'];

/** The value as the operator sees it: without the hidden fields, at any depth. */
function withoutHidden(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) => (HIDDEN.includes(name) ? undefined : inner)),
  );
}

const FILTERS = [
  ['transactions', 'state=TIMED_OUT'],
  ['transactions', `kind=BET&minAmountMinor=200&roundId=${roundId}`],
  ['transactions', `playerRef=${playerRef}&gameId=${GAME}`],
  ['rounds', `playerRef=${playerRef}`],
  ['rounds', `open=true&providerId=${PROVIDER}`],
  ['sessions', `playerRef=${playerRef}&revoked=false`],
] as const;

describe.each(FILTERS)('the list of %s with ?%s', (list, filter) => {
  test.each([OPERATOR, OTHER_OPERATOR])('is what administrators see of %s', async (operator) => {
    const own = await read(operator, `${list}?${filter}`);
    const ofAdmin = await world.admin('GET', `/v1/admin/${list}?${filter}&operatorId=${operator}`);
    expect([own.status, own.json]).toEqual([200, ofAdmin.json]);
    const items = own.json['items'] as { operatorId: string }[];
    expect(items.length).toBeGreaterThan(0);
    expect(new Set(items.map(({ operatorId }) => operatorId))).toEqual(new Set([operator]));
    const csv = await read(operator, `${list}?${filter}`, CSV);
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect(csv.text).toBe((await csvOfAdmin(`${list}?${filter}&operatorId=${operator}`)).text);
    expect(csv.text + own.text).not.toContain(SESSIONS[operator]!.sessionToken);
  });
});

test.each(['transactions', 'rounds', 'sessions', `rounds/${PROVIDER}/${roundId}`])(
  '%s refuses an operatorId, and an unknown parameter',
  async (path) => {
    for (const query of [`operatorId=${OTHER_OPERATOR}`, `operatorId=${OPERATOR}`, 'surprise=1']) {
      const { status, headers } = await read(OPERATOR, `${path}?${query}`);
      expect([status, headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
    }
  },
);

describe.each(['transactions', 'sessions', 'rounds'])('a cursor of %s', (list) => {
  const page = (operator: string, more: string) => read(operator, `${list}?playerRef=${playerRef}&${more}`);
  beforeAll(async () => {
    for (const operator of [OPERATOR, OTHER_OPERATOR])
      await world.submit(world.transaction(await world.launch({ playerRef }, operator), 'BET'));
  });

  test('leads to the next page', async () => {
    const first = await page(OPERATOR, 'limit=1');
    const cursor = String(first.json['nextCursor']);
    const second = await page(OPERATOR, `limit=1&cursor=${cursor}`);
    const both = await page(OPERATOR, 'limit=2');
    expect([first.json['items'], second.json['items']].flat()).toEqual(both.json['items']);
  });

  test('is refused if it is of another operator, of an administrator, or altered', async () => {
    const foreign = await page(OTHER_OPERATOR, 'limit=1');
    const path = `/v1/admin/${list}?playerRef=${playerRef}&operatorId=${OPERATOR}&limit=1`;
    const ofAdmin = await world.admin('GET', path);
    const own = String((await page(OPERATOR, 'limit=1')).json['nextCursor']);
    const altered = `${own.slice(0, 30)}${own[30] === 'A' ? 'B' : 'A'}${own.slice(31)}`;
    const { status } = await page(OPERATOR, `cursor=${own}`);
    expect(status).toBe(200);
    for (const cursor of [
      foreign.json['nextCursor'],
      ofAdmin.json['nextCursor'],
      altered,
      own.slice(0, 20),
      'x',
    ]) {
      const { status, headers } = await page(OPERATOR, `cursor=${String(cursor)}`);
      expect([cursor, status, headers.get('x-error-code')]).toEqual([cursor, 400, 'INVALID_REQUEST']);
    }
  });
});

test('the session of another operator shows nothing, not even that its player is active', async () => {
  const { sessionId } = SESSIONS[OTHER_OPERATOR]!;
  const { json } = await read(OPERATOR, `transactions?sessionId=${sessionId}`);
  expect(json).toEqual({ items: [] });
});

test('a page of CSV leads to the next one under the operator’s own path', async () => {
  const { headers } = await read(OPERATOR, `transactions?playerRef=${playerRef}&limit=1`, CSV);
  expect(headers.get('link')).toMatch(/^<\/v1\/operator\/transactions\?.*cursor=.+>; rel="next"$/);
});

describe('one transaction', () => {
  test.each(['approved', 'rolled back', 'timed out'])(
    'is what administrators see of it: %s',
    async (which) => {
      const { json: listed } = await read(OPERATOR, `transactions?roundId=${roundId}&state=ROLLED_BACK`);
      const [undone] = listed['items'] as { transactionId: string }[];
      const { transactionId } =
        which === 'approved' ? BETS[OPERATOR]! : which === 'timed out' ? UNANSWERED[OPERATOR]! : undone!;
      const path = `transactions/${PROVIDER}/${transactionId}`;
      const { json: whole } = await world.admin('GET', `/v1/admin/${path}`);
      const own = await read(OPERATOR, path);
      expect([own.status, own.json]).toEqual([200, withoutHidden(whole)]);
      expect(own.json).not.toEqual(whole);
      expect(own.json['attempts']).toMatchObject([{ attempt: 1, driver: 'provider', told: {} }]);
      expect(own.text).not.toMatch(new RegExp(`"(${HIDDEN.join('|')})"|${SESSIONS[OPERATOR]!.sessionToken}`));
      expect(own.json['rollback'] !== null).toBe(which === 'rolled back');
    },
  );

  test('of another operator is the same 404 as one that does not exist', async () => {
    const foreign = await read(OPERATOR, `transactions/${PROVIDER}/${BETS[OTHER_OPERATOR]!.transactionId}`);
    const missing = await read(OPERATOR, `transactions/${PROVIDER}/nothing`);
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
  });
});

describe('one round', () => {
  test.each([OPERATOR, OTHER_OPERATOR])(
    'of a roundId that two operators have is that of %s',
    async (operator) => {
      const path = `rounds/${PROVIDER}/${roundId}`;
      const own = await read(operator, path);
      const { json } = await world.admin('GET', `/v1/admin/${path}?operatorId=${operator}`);
      expect([own.status, own.json]).toEqual([200, withoutHidden(json)]);
      expect(own.json).toMatchObject({ operatorId: operator, betMinor: 250 });
      expect(own.json).not.toHaveProperty('advice');
    },
  );

  test('of another operator is a 404', async () => {
    const path = `rounds/${PROVIDER}/${UNANSWERED[OTHER_OPERATOR]!.roundId}`;
    expect((await read(OTHER_OPERATOR, path)).status).toBe(200);
    expect((await read(OPERATOR, path)).status).toBe(404);
  });

  test('is chosen by player if several match, and the refusal names no operatorId', async () => {
    const shared = 'the-round-of-two-players';
    const sessions = [await world.launch(), await world.launch()];
    for (const session of sessions)
      await world.submit(world.transaction(session, 'BET', { roundId: shared }));
    const several = await read(OPERATOR, `rounds/${PROVIDER}/${shared}`);
    expect([several.status, several.text]).toEqual([400, expect.not.stringContaining('operatorId')]);
    const one = await read(OPERATOR, `rounds/${PROVIDER}/${shared}?playerRef=${sessions[1]!.playerRef}`);
    expect(one.json).toMatchObject({ playerRef: sessions[1]!.playerRef, items: [{}] });
  });
});

describe('one session', () => {
  test('is what administrators see of it, page by page', async () => {
    const { sessionId, sessionToken } = SESSIONS[OPERATOR]!;
    const own = await read(OPERATOR, `sessions/${sessionId}?limit=3`);
    const { json } = await world.admin('GET', `/v1/admin/sessions/${sessionId}?limit=3`);
    expect([own.status, own.json]).toEqual([200, { ...json, nextCursor: expect.any(String) }]);
    expect(own.json['transactions']).toHaveLength(3);
    expect(own.text).not.toContain(sessionToken);
  });

  test('of another operator is a 404', async () => {
    expect((await read(OPERATOR, `sessions/${SESSIONS[OTHER_OPERATOR]!.sessionId}`)).status).toBe(404);
  });
});

test('a read is refused without a signature, and with that of a provider', async () => {
  const path = '/v1/operator/transactions';
  const headers = world.signature(PROVIDER, path, '', { method: 'GET' });
  for (const refused of [await world.request(path), await world.request(path, { headers })])
    expect([refused.status, refused.text]).toEqual([401, 'invalid signature']);
});

test('an operator sees these fields and no others', () => {
  const ITEM = [
    'providerId transactionId platformTransactionId kind state operatorId sessionId mode playerRef gameId roundId',
    'amountMinor currency roundClosed originalTransactionId freeSpinsRef declineReason reason rollbackId attempt',
    'createdAt updatedAt parkedAt settledByHand winKind promotionRef balance operatorTransactionId roundDetailsUrl',
  ].join(' ');
  const shown = (answer: Parameters<typeof columnsOf>[0]) => Object.keys(columnsOf(answer)).join(' ');
  expect(shown(OwnTransactionDetail)).toBe(`${ITEM} verdict leaseUntil attempts rollback timeline`);
  expect(shown(OwnRoundDetail)).toBe(
    'providerId roundId operatorId playerRef gameId mode open currency betMinor winMinor netMinor roundDetailsUrl ' +
      'items truncated sums',
  );
});

test('a page that ends at the transaction of another operator does not disclose it', async () => {
  const path = `transactions?playerRef=${playerRef}&kind=WIN`;
  // A page examines 5,000 transactions of the player.
  await world.sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
       player_ref, game_id, currency, amount_minor, round_id, attempt, response_body)
     SELECT $1, 'foreign-' || n, gen_random_uuid(), 'BET', 'DECLINED', $2, 'REAL', $3, $4, 'EUR', 1, 'r', 1, '{}'
       FROM generate_series(1, 5001) n`,
    [PROVIDER, OTHER_OPERATOR, playerRef, GAME],
  );
  const { json } = await read(OPERATOR, path);
  expect(json).toEqual({ items: [], nextCursor: expect.any(String) });
  const cursor = String(json['nextCursor']);
  expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/\d{4}-\d\d-\d\dT|[0-9a-f]{8}-/);
  expect((await read(OPERATOR, `${path}&cursor=${cursor}`)).json).toEqual({ items: [] });
});
