import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Turns } from '../../src/database/turns.js';
import { overloaded } from '../../src/errors/try-later.js';
import {
  ADMIN_KEY,
  bearer,
  CSV,
  FOREIGN_GAME,
  GAME,
  OTHER_GAME,
  OPERATOR,
  OTHER_OPERATOR,
  PROVIDER,
  type Reply,
  useWorld,
} from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

/** Levels of log lines. */
const WARN = 40;
const ERROR = 50;

const lines: string[] = [];
const world = useWorld(
  { DOCS_ENABLED: 'true', LOG_LEVEL: 'info' },
  { write: (line: string) => void lines.push(line) },
);
beforeAll(async () => {
  const session = await world.launch();
  await world.submit(world.transaction(session, 'BET'));
  const grant = { playerRef: 'ann', gameId: GAME, spins: 3, betAmountMinor: 10, currency: 'EUR' };
  await world.admin('POST', '/v1/admin/free-spins', { ...grant, operatorId: OPERATOR });
  await world.admin('POST', '/v1/admin/keys', { name: 'Night shift', role: 'support' });
  await world.submit(world.transaction(session, 'WIN', { freeSpinsRef: 'of-no-grant' }));
  await world.admin('POST', `/v1/admin/sessions/${session.sessionId}/revoke`, { reason: 'KICK' });
  const { playerRef, ...spins } = { ...grant, operatorId: OPERATOR };
  await world.admin('POST', '/v1/admin/free-spins/batches', { ...spins, playerRefs: [playerRef] });
  await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/EUR`, { maxGrantMinor: 1 });
  await world.admin('POST', '/v1/admin/free-spins', { ...spins, playerRef });
  await world.admin('PATCH', `/v1/admin/operators/${OTHER_OPERATOR}`, { currencies: ['EUR', 'ZAR'] });
  for (const game of [FOREIGN_GAME, OTHER_GAME]) {
    await world.admin('POST', `/v1/admin/games/${game}/pause`, { reason: 'to be listed' });
  }
  // The item of the flagged WIN is opened after its answer.
  await vi.waitFor(
    async () => expect((await get('/v1/admin/attention')).text).toContain('UNKNOWN_BATCH'),
    PATIENCE,
  );
});

const get = (path: string, accept?: string) =>
  world.admin('GET', path, undefined, accept === undefined ? {} : { Accept: accept });

/** Each list of the admin API, a text that it contains here, and the name of its file if that is not its path. */
const LISTS: [path: string, known: string, file?: string][] = [
  ['providers', PROVIDER],
  ['operators', OPERATOR],
  ['games', GAME],
  ['transactions', PROVIDER],
  ['rounds', PROVIDER],
  ['sessions', OPERATOR],
  ['callbacks', PROVIDER],
  ['free-spins', OPERATOR],
  ['keys', 'Night shift'],
  ['audit', 'provider.create'],
  ['free-spins/batches', OPERATOR, 'batches'],
  ['free-spins-winnings/flagged', 'UNKNOWN_BATCH', 'flagged-winnings'],
  ['limits', OPERATOR],
  ['limits/missing', 'ZAR', 'limits-missing'],
  ['approvals', 'WAITING'],
  ['attention', 'UNKNOWN_BATCH'],
  ['health-scores', OPERATOR],
  ['pauses', FOREIGN_GAME],
  ['search?q=ann', 'player', 'search'],
];

test('every list is in this table', async () => {
  const { paths } = (await world.request('/docs/admin-json')).json as {
    paths: Record<string, { get?: { responses: Record<string, { content?: object }> } }>;
  };
  const csv = Object.entries(paths).filter(
    ([, { get }]) => 'text/csv' in (get?.responses['200']?.content ?? {}),
  );
  const listed = LISTS.map(([path]) => `/v1/admin/${path.split('?')[0]!}`);
  // test/reconciliation/http.test.ts reads the lists of reconciliations.
  const others = csv.map(([path]) => path).filter((path) => !path.includes('/reconciliations'));
  expect(others.sort()).toEqual(listed.sort());
});

describe.each(LISTS)('the list of %s', (name, known, file = name) => {
  test("is CSV if that is preferred, with the JSON's fields as columns", async () => {
    const reply = await get(`/v1/admin/${name}`, 'text/csv');
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="${file}.csv"`);
    expect(reply.text).toContain(known);
    const header = reply.text.split('\r\n')[0]!.split(',');
    for (const minor of header.filter((column) => column.endsWith('Minor')))
      expect(header[header.indexOf(minor) + 1]).toBe(minor.replace('Minor', ''));
    const { items } = (await get(`/v1/admin/${name}`)).json as { items: object[] };
    for (const item of items) expect(header).toEqual(expect.arrayContaining(Object.keys(item)));
  });

  test.each([
    ['nothing', undefined],
    ['anything', '*/*'],
    ['JSON', 'application/json'],
    ['an unavailable format', 'image/png'],
    ['JSON rather than CSV', 'text/csv;q=0.5, application/json'],
    ['JSON with a parameter', 'application/json;charset=utf-8, text/csv;q=0.5'],
  ])('is JSON if %s is requested', async (_, accept) => {
    const reply = await get(`/v1/admin/${name}`, accept);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.json).toHaveProperty('items');
  });
});

test('the next page of a CSV keeps a filter that contains a question mark', async () => {
  const session = await world.launch({ playerRef: 'who?ann&b' });
  for (const kind of ['BET', 'BET']) await world.submit(world.transaction(session, kind));
  const filter = 'playerRef=who?ann%26b&limit=1';
  const page = await get(`/v1/admin/transactions?${filter}`, 'text/csv');
  const [, query = ''] =
    /^<\/v1\/admin\/transactions\?(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '') ?? [];
  expect(Object.fromEntries(new URLSearchParams(query))).toMatchObject({
    playerRef: 'who?ann&b',
    limit: '1',
  });
});

/** Lists that a `limit` divides into pages. The reads of this test add to the audit log, so one action is selected. */
const PAGED = LISTS.map(([path]) => (path === 'audit' ? 'audit?action=provider.create' : path)).filter(
  (path) => !path.startsWith('search'),
);

describe.each(PAGED)('the pages of %s as CSV', (path) => {
  const next = (reply: Reply) => /^<(\/[^<>\s]+)>; rel="next"$/.exec(reply.headers.get('link') ?? '')?.[1];
  const firstCells = ({ text }: Reply) =>
    text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((row) => row.split(',')[0]);

  test('name the next one until all items are read; without a limit, there is one answer', async () => {
    const whole = await get(`/v1/admin/${path}`, 'text/csv');
    expect(whole.headers.get('link')).toBeNull();
    const read: (string | undefined)[] = [];
    let pages = 0;
    for (
      let target: string | undefined = `/v1/admin/${path}${path.includes('?') ? '&' : '?'}limit=1&bom=false`;
      target;
    ) {
      const page: Reply = await get(target, 'text/csv');
      expect(page.status).toBe(200);
      expect(firstCells(page).length).toBeLessThanOrEqual(1);
      read.push(...firstCells(page));
      pages += 1;
      target = next(page);
      if (target !== undefined) expect(target).toContain('limit=1&bom=false&cursor=');
    }
    expect(read).toEqual(firstCells(whole));
    expect(pages).toBeGreaterThanOrEqual(read.length);
  });
});

test('no document proposes a limit for a list that can be CSV', async () => {
  const { paths } = (await world.request('/docs/admin-json')).json as {
    paths: Record<string, { get?: { parameters?: { name: string; schema: object; example?: unknown }[] } }>;
  };
  for (const [path] of LISTS) {
    const parameters = paths[`/v1/admin/${path.split('?')[0]!}`]?.get?.parameters ?? [];
    const limit = parameters.find(({ name }) => name === 'limit');
    expect(limit === undefined, path).toBe(path.startsWith('search'));
    if (limit) expect(Object.keys({ ...limit, ...limit.schema }), path).not.toContain('default');
    if (limit) expect(Object.keys({ ...limit, ...limit.schema }), path).not.toContain('example');
  }
});

describe('an export', () => {
  const column = (text: string, name: string) => {
    const [header, ...rows] = text.trim().split('\r\n');
    const place = header!.split(',').indexOf(name);
    return rows.map((row) => row.split(',')[place]);
  };

  test('has each amount in major units next to the minor units', async () => {
    for (const [currency, amountMinor] of Object.entries({ EUR: 250, JPY: 251, KWD: 252, ZZZ: 253 })) {
      const session = await world.launch({ playerRef: 'rich', currency });
      await world.submit(world.transaction(session, 'BET', { amountMinor }));
    }
    const { text } = await get('/v1/admin/transactions?playerRef=rich', 'text/csv');
    expect(text.split('\r\n')[0]).toContain(',amountMinor,amount,currency,');
    expect(column(text, 'amountMinor')).toEqual(['253', '252', '251', '250']);
    expect(column(text, 'amount')).toEqual(['', '0.252', '251', '2.50']);
  });

  test('has a negative amount as a number, not as a text', async () => {
    const request = { operatorId: OPERATOR, playerRef: 'poor', currency: 'EUR', reason: 'ticket 1' };
    await world.admin('POST', '/v1/admin/adjustments', { ...request, adjustmentId: 'a', amountMinor: -5 });
    const { text } = await get('/v1/admin/transactions?playerRef=poor', 'text/csv');
    expect(column(text, 'amount')).toEqual(['-0.05']);
  });

  test('of grants has their stake', async () => {
    const { text } = await get('/v1/admin/free-spins', 'text/csv');
    expect(column(text, 'betAmount')).toEqual(['0.10', '0.10']);
  });

  test('begins with a byte order mark if that is requested', async () => {
    const bytes = async (query: string) => {
      const headers = { ...bearer(ADMIN_KEY), ...CSV };
      const response = await fetch(`${world.url}/v1/admin/free-spins?limit=1${query}`, { headers });
      return Buffer.from(await response.arrayBuffer());
    };
    const plain = await bytes('');
    expect(plain.subarray(0, 10).toString()).toBe('requestRef');
    expect(await bytes('&bom=false')).toEqual(plain);
    expect(await bytes('&bom=true')).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]));
    expect((await get('/v1/admin/free-spins?bom=yes', 'text/csv')).status).toBe(400);
    expect((await get('/v1/admin/free-spins?bom=true')).status).toBe(200);
  });
});

describe('an export of 20,000 rows', () => {
  beforeAll(() =>
    world.sql.run(
      `INSERT INTO games (game_id, provider_id, name, status, created_at, updated_at)
       SELECT 'game-' || n, $1, repeat('x', 128), 'ACTIVE', now(), now() FROM generate_series(1, 20000) n`,
      [PROVIDER],
    ),
  );

  /** A call whose answer has begun and is not read further. */
  async function begun(path = '/v1/admin/games', credentials: object = bearer(ADMIN_KEY)) {
    const call = request(world.url + path, { headers: { ...credentials, ...CSV } });
    const [answer] = (await once(call.end(), 'response')) as [IncomingMessage];
    await once(answer, 'data');
    answer.pause();
    return { call, answer };
  }

  /** The log lines of a call, the last of which has its outcome. */
  async function linesOf({ headers }: IncomingMessage) {
    const requestId = String(headers['x-request-id']);
    return vi.waitUntil(() => {
      const ofCall = lines
        .filter((line) => line.includes(requestId))
        .map((line) => JSON.parse(line) as object);
      return 'outcome' in (ofCall.at(-1) ?? {}) && ofCall;
    }, PATIENCE);
  }

  afterEach(() => vi.restoreAllMocks());

  test('stops reading when the caller disconnects', async () => {
    const { call, answer } = await begun();
    call.destroy();
    await once(call, 'close');
    expect(await linesOf(answer)).toMatchObject([{ outcome: 'CLIENT_WENT_AWAY', status: 200 }]);
    const whole = await get('/v1/admin/games', 'text/csv');
    expect(whole.text.split('\r\n')).toHaveLength(20_000 + 3 + 2);
  });

  test('is aborted when it fails in the middle, instead of ending as if it were complete', async () => {
    const { answer } = await begun();
    await world.sql.run('ALTER TABLE games RENAME TO games_away');
    try {
      await expect(once(answer.resume(), 'end')).rejects.toThrow('aborted');
    } finally {
      await world.sql.run('ALTER TABLE games_away RENAME TO games');
    }
    const err = expect.objectContaining({ message: 'relation "games" does not exist' }) as object;
    expect(await linesOf(answer)).toMatchObject([
      { level: ERROR, err },
      { outcome: 'CUT_OFF', status: 200 },
    ]);
  });

  test('is aborted when it gets no turn to read on, which is no error', async () => {
    const { answer } = await begun();
    vi.spyOn(world.app.get(Turns).reads, 'run').mockRejectedValueOnce(overloaded(1));
    await expect(once(answer.resume(), 'end')).rejects.toThrow('aborted');
    const warning = { level: WARN, msg: 'an export was cut off', code: 'OVERLOADED', actor: 'root' };
    expect(await linesOf(answer)).toMatchObject([warning, { outcome: 'CUT_OFF' }]);
  });

  describe('that is still read', () => {
    /** Makes the check of each access that was found before now due. */
    const passTime = () => {
      const now = performance.now.bind(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => now() + 4_000);
    };

    const ownSessions = (operator: string) => {
      const path = '/v1/operator/sessions';
      return begun(path, world.signature(operator, path, '', { method: 'GET' }));
    };
    beforeAll(() =>
      world.sql.run(
        `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
                               created_at, expires_at)
         SELECT gen_random_uuid(), sha256(convert_to(operator || n, 'UTF8')), operator, $1, repeat('x', 128), $2, 'EUR',
                'REAL', now(), now() FROM generate_series(1, 20000) n, unnest($3::text[]) operator`,
        [PROVIDER, GAME, [OPERATOR, OTHER_OPERATOR]],
      ),
    );

    test('is completed while its key and its secret are valid', async () => {
      const answers = [(await begun()).answer, (await ownSessions(OPERATOR)).answer];
      passTime();
      for (const answer of answers) await once(answer.resume(), 'end');
    });

    test('is aborted when its key is deleted', async () => {
      const { id, key } = await world.administrator('auditor', 'Leaked');
      const { answer } = await begun('/v1/admin/games', bearer(key));
      await world.admin('DELETE', `/v1/admin/keys/${id}`);
      passTime();
      await expect(once(answer.resume(), 'end')).rejects.toThrow('aborted');
      const warning = { level: WARN, code: 'FORBIDDEN', actor: `key:${id}` };
      expect(await linesOf(answer)).toMatchObject([warning, { outcome: 'CUT_OFF' }]);
    });

    test('is aborted when the secret that signed it is no longer valid', async () => {
      const { answer } = await ownSessions(OPERATOR);
      const path = `/v1/admin/operators/${OPERATOR}/secret/rotate`;
      const rotated = await world.admin('POST', path, { overlapSeconds: 0 });
      world.secrets.set(OPERATOR, String(rotated.json['secret']));
      passTime();
      await expect(once(answer.resume(), 'end')).rejects.toThrow('aborted');
    });

    test('is aborted when its operator is disabled', async () => {
      const { answer } = await ownSessions(OTHER_OPERATOR);
      await world.admin('PATCH', `/v1/admin/operators/${OTHER_OPERATOR}`, { status: 'DISABLED' });
      passTime();
      await expect(once(answer.resume(), 'end')).rejects.toThrow('aborted');
    });
  });
});
