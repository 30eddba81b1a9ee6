import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Database, type Query, type Transaction } from '../../src/database/database.js';
import { named } from '../../src/database/statement.js';
import { WINDOW_ROWS } from '../../src/database/time-window.js';
import {
  GAME,
  OPERATOR,
  OTHER_GAME,
  OTHER_OPERATOR,
  PROVIDER,
  type Reply,
  useWorld,
} from '../world/world.js';

/*
 * A page examines a bounded number of rows if no index serves its filter as a whole. It may then be short or empty and
 * still have a next page. Contract, section 7, "Lists".
 */

const world = useWorld();

const ROWS = 2 * WINDOW_ROWS + 1_000;
/** Rare rows: the newest, several of the same time, one in the middle, and the oldest of all. */
const RARE = [1, 2, 3, 4, WINDOW_ROWS + 1, ROWS - 1, ROWS];
const isRare = `n IN (${RARE.join(', ')})`;
/** Four rows have the same time. */
const at = `now() - interval '1 hour' - (n + 3) / 4 * interval '1 second'`;

beforeAll(async () => {
  // The other operator has as many sessions, with the same times.
  await world.sql.run(
    `INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode,
       created_at, expires_at, revoked_at, revoke_reason)
     SELECT gen_random_uuid(), sha256((n || operator_id)::bytea), operator_id, $2, 'busy',
            CASE WHEN ${isRare} OR operator_id <> $1 THEN $3 ELSE $4 END, 'EUR', 'REAL', ${at}, now(),
            CASE WHEN ${isRare} THEN now() END, CASE WHEN ${isRare} THEN 'KICK' END
       FROM generate_series(1, ${ROWS}) n, unnest(ARRAY[$1, $5]) operator_id`,
    [OPERATOR, PROVIDER, OTHER_GAME, GAME, OTHER_OPERATOR],
  );
  await world.sql.run(
    `INSERT INTO callbacks (provider_id, route, reference, body, created_at)
     SELECT $1, CASE WHEN ${isRare} THEN '/v1/game/session/revoke' ELSE '/v1/game/free-spins/grant' END,
            'ref' || n, '{}', ${at}
       FROM generate_series(1, ${ROWS}) n`,
    [PROVIDER],
  );
});

const asAdmin = (path: string) => world.admin('GET', `/v1/admin/${path}`);
const asOperator = (path: string) => world.signedGet(OPERATOR, `/v1/operator/${path}`);

interface Page {
  readonly items: readonly Record<string, unknown>[];
  readonly nextCursor?: string;
}

async function pagesOf(read: (path: string) => Promise<Reply>, path: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; cursor = pages.at(-1)!.nextCursor) {
    const { status, json } = await read(cursor === '' ? path : `${path}&cursor=${cursor}`);
    expect(status).toBe(200);
    pages.push(json as unknown as Page);
    expect(pages.length).toBeLessThan(20);
  }
  return pages;
}

const idsOf = async (query: string, values: readonly unknown[]) =>
  (await world.sql.run<{ id: string | number }>(query, values)).map(({ id }) => id);

describe.each([
  ['an operator', asOperator, ''],
  ['an administrator', asAdmin, `&operatorId=${OPERATOR}`],
] as const)('sessions, read by %s:', (_, read, tenant) => {
  test.each([`gameId=${OTHER_GAME}`, 'revoked=true', `playerRef=busy&revoked=true`])(
    'pages with %s have each session once, also after short ones',
    async (filter) => {
      const pages = await pagesOf(read, `sessions?${filter}${tenant}&limit=3`);
      expect(pages.flatMap(({ items }) => items).map(({ sessionId }) => sessionId)).toEqual(
        await idsOf(
          `SELECT session_id AS id FROM sessions WHERE operator_id = $1 AND revoked_at IS NOT NULL
            ORDER BY created_at DESC, session_id DESC`,
          [OPERATOR],
        ),
      );
      expect(pages.some(({ items, nextCursor }) => items.length < 3 && nextCursor !== undefined)).toBe(true);
    },
  );

  test('a filter without a match has empty pages', async () => {
    const pages = await pagesOf(read, `sessions?gameId=none${tenant}`);
    expect(pages.map(({ items }) => items.length)).toEqual([0, 0, 0]);
  });
});

test('the pages of an operator’s sessions end only at its own sessions', async () => {
  const pages = await pagesOf(asAdmin, `sessions?gameId=none&operatorId=${OPERATOR}`);
  const named = pages.flatMap(({ nextCursor }) =>
    nextCursor === undefined ? [] : [Buffer.from(nextCursor, 'base64url').toString().split('/')[1]],
  );
  expect(
    await idsOf('SELECT DISTINCT operator_id AS id FROM sessions WHERE session_id = ANY ($1)', [named]),
  ).toEqual([OPERATOR]);
});

test('pages of callbacks have each callback once, also after short ones', async () => {
  const pages = await pagesOf(
    asAdmin,
    `callbacks?providerId=${PROVIDER}&route=/v1/game/session/revoke&limit=3`,
  );
  expect(pages.flatMap(({ items }) => items).map(({ callbackId }) => callbackId)).toEqual(
    await idsOf(
      `SELECT callback_id AS id FROM callbacks WHERE route = '/v1/game/session/revoke'
        ORDER BY created_at DESC, callback_id DESC`,
      [],
    ),
  );
  expect(pages.some(({ items, nextCursor }) => items.length < 3 && nextCursor !== undefined)).toBe(true);
});

test('callbacks without a match have empty pages', async () => {
  const pages = await pagesOf(asAdmin, `callbacks?providerId=${PROVIDER}&route=/v1/game/free-spins/cancel`);
  expect(pages.map(({ items }) => items.length)).toEqual([0, 0, 0]);
});

describe('a transaction that is booked while a page is read', () => {
  /** Does the work after each statement that finds the end of a page's window. */
  function afterWindowEnds(work: (query: Query) => Promise<void>): void {
    const database = world.app.get(Database);
    const transaction = database.transaction.bind(database);
    vi.spyOn(database, 'transaction').mockImplementation((read) =>
      transaction((whole: Transaction) => {
        const query: Query = async (statement, values, ...rest) => {
          const rows = await whole.query(statement, values, ...rest);
          if (/OFFSET \$\d+ - 1/.test(statement.text)) await work(whole.query);
          return rows as never;
        };
        return read({ ...whole, query });
      }),
    );
  }

  test.each(['rounds?open=true', 'free-spins-winnings/flagged?limit=50'])(
    'pushes nothing out of the window of %s',
    async (path) => {
      const session = await world.launch();
      const changes: number[] = [];
      const count = named('', 'SELECT count(*)::int AS count FROM transactions');
      afterWindowEnds(async (query) => {
        const [before] = await query<{ count: number }>(count, {});
        expect((await world.submit(world.transaction(session, 'BET'))).status).toBe(200);
        const [after] = await query<{ count: number }>(count, {});
        changes.push(after!.count - before!.count);
      });
      expect((await asAdmin(path)).status).toBe(200);
      vi.restoreAllMocks();
      expect(new Set(changes)).toEqual(new Set([0]));
    },
  );
});
