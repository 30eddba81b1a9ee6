import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../world/temporary-folder.js';

const SCRIPT = join(import.meta.dirname, '../../ops/check-tables.mjs');
const SCHEMA = ['sessions', 'games', 'pauses']
  .map((table) => `CREATE TABLE ${table} (\n  id text\n);\n`)
  .join('');
const TABLES = { session: { sessions: {} }, tenancy: { games: {}, pauses: {} } };

let root: Awaited<ReturnType<typeof temporaryFolder>>;
let projects = 0;

beforeAll(async () => (root = await temporaryFolder()));
afterAll(() => root.remove());

/** Runs the check on a project of these files. */
function check(tables: object, sources: Record<string, string>) {
  const project = join(root.path, String((projects += 1)));
  const files = { 'tables.json': JSON.stringify(tables), 'docs/schema.sql': SCHEMA, ...sources };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, project], { encoding: 'utf8' });
  return { status, problems: stderr.trim().split('\n') };
}

test('a room names its own tables, and those of others that are declared', () => {
  const sessions = { readers: { wallet: 'joins them' }, writers: { desk: 'ends them' } };
  const sources = {
    'src/session/session.entity.ts': `@Entity({ name: 'sessions' })\nexport class Session {}`,
    'src/session/session.store.ts': 'const FIND = `SELECT * FROM sessions`;',
    'src/wallet/fresh.sql.ts': 'const JOINED = `${CLAIM} JOIN ONLY sessions s`; // reads FROM games',
    'src/desk/desk.store.ts': `/** Ends what was read FROM pauses. */\nconst END = 'UPDATE sessions SET ended = true';`,
    'src/database/migrations/0001.ts': 'const UP = `INSERT INTO games`;',
  };
  expect(check({ ...TABLES, session: { sessions } }, sources).status).toBe(0);
});

test('SQL that names a table of another room fails, with its place and what to do', () => {
  const { status, problems } = check(TABLES, {
    'src/wallet/transaction.sql.ts':
      'const LOAD = `\n  SELECT s.id\n    FROM sessions s\n    JOIN games g ON true`;',
    'src/desk/desk.store.ts': `const STATEMENTS = ['DELETE FROM pauses', 'INSERT INTO games VALUES (1)'];`,
    'src/wallet/game.entity.ts': `@Entity('games')\nclass Game {}`,
    'src/wallet/page.ts': `page({ from: 'sessions' });`,
    'src/wallet/lower.sql.ts': 'const LOWER = `select from pauses`;',
    'src/wallet/list.sql.ts': 'const LISTED = `SELECT FROM claimed AS c, games g,\n  sessions`;',
  });
  const advice = (owner: string, kind: string) =>
    `Use a service or an SQL fragment of ${owner}, or add the reason to "${kind}" in tables.json.`;
  expect(problems).toEqual([
    `src/desk/desk.store.ts:1: desk writes pauses, a table of tenancy. ${advice('tenancy', 'writers')}`,
    `src/desk/desk.store.ts:1: desk writes games, a table of tenancy. ${advice('tenancy', 'writers')}`,
    `src/wallet/game.entity.ts:1: wallet writes games, a table of tenancy. ${advice('tenancy', 'writers')}`,
    `src/wallet/list.sql.ts:1: wallet reads games, a table of tenancy. ${advice('tenancy', 'readers')}`,
    `src/wallet/list.sql.ts:2: wallet reads sessions, a table of session. ${advice('session', 'readers')}`,
    `src/wallet/lower.sql.ts:1: wallet reads pauses, a table of tenancy. ${advice('tenancy', 'readers')}`,
    `src/wallet/page.ts:1: wallet reads sessions, a table of session. ${advice('session', 'readers')}`,
    `src/wallet/transaction.sql.ts:3: wallet reads sessions, a table of session. ${advice('session', 'readers')}`,
    `src/wallet/transaction.sql.ts:4: wallet reads games, a table of tenancy. ${advice('tenancy', 'readers')}`,
  ]);
  expect(status).toBe(1);
});

test('a declaration fails if nothing uses it, if it permits less, or if it points up', () => {
  const games = { readers: { wallet: 'joins them', desk: 'joins them', audit: 'joins them' } };
  const { status, problems } = check(
    { ...TABLES, tenancy: { games, pauses: {} } },
    {
      'src/wallet/transaction.sql.ts': 'const LOAD = `SELECT FROM games`;',
      'src/desk/desk.sql.ts': 'const PUT = `UPDATE games SET id = 1`;',
      'src/audit/audit.sql.ts': 'const LOAD = `SELECT FROM games`;',
    },
  );
  expect(problems).toEqual([
    expect.stringMatching(/^src\/desk\/desk\.sql\.ts:1: desk writes games/) as string,
    'tables.json: desk reads games of tenancy no longer. Remove desk from "readers".',
    'tables.json: audit reads games of tenancy, a room above it. Let tenancy register a fragment or a function with audit.',
  ]);
  expect(status).toBe(1);
});

test('a table fails without an owner, with two, or if it is not in the schema', () => {
  const { status, problems } = check(
    { session: { sessions: {}, games: {} }, tenancy: { games: {}, tenants: {} } },
    { 'src/main.ts': '' },
  );
  expect(problems).toEqual([
    'tables.json: games needs one owner, and has session and tenancy.',
    'tables.json: pauses needs one owner, and has none.',
    'tables.json: tenants of tenancy is not in docs/schema.sql. Remove it.',
  ]);
  expect(status).toBe(1);
});
