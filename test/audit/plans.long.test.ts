import { beforeAll, expect, test } from 'vitest';
import { AuditStore } from '../../src/audit/audit.store.js';
import type { Database } from '../../src/database/database.js';
import { type Statement, valuesOf } from '../../src/database/statement.js';
import { useDatabase } from '../world/database.js';
import { type ExecutedNode, type Explained, nodesOf, nodesOnTables, rowsTouched } from '../world/plan.js';

const ENTRIES = 20_000;
const LIMIT = 100;
const MIDDLE = { day: '2026-01-11', position: 500 };

const database = useDatabase();

beforeAll(async () => {
  const { sql } = database;
  await sql.run(
    `ALTER TABLE audit_entries DISABLE TRIGGER USER;
     INSERT INTO audit_entries (day, position, created_at, actor, role, action, target, previous_hash, hash)
     SELECT '2026-01-01'::date + n / 1000, n % 1000 + 1, '2026-01-01 12:00Z'::timestamptz + n / 1000 * interval '1 day', 'root', 'admin', 'test.read', 'test',
            sha256('before'), sha256(n::text::bytea)
       FROM generate_series(0, ${ENTRIES - 1}) n;
     INSERT INTO audit_seals (number, day, position, key_id, mac)
     SELECT row_number() OVER (ORDER BY day, position), day, position, '01234567', hash FROM audit_entries;
     INSERT INTO audit_entries (day, position, created_at, actor, role, action, target, previous_hash, hash)
     SELECT day, position + 1000, created_at, 'key:other', role, 'other.read', target, previous_hash, sha256(hash)
       FROM audit_entries WHERE position % 2 = 0`,
  );
  await sql.run('VACUUM (ANALYZE)');
});

/** How many rows of the audit tables the store's statement reads. */
async function rowsRead(read: (store: AuditStore) => Promise<unknown>): Promise<number> {
  let plan: Explained<ExecutedNode>[] = [];
  const query = async (statement: Statement, values: object) => {
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ${statement.text}`;
    plan = await database.sql.run(explain, valuesOf(statement, values));
    return [];
  };
  await read(new AuditStore({ query } as unknown as Database));
  return rowsTouched(nodesOnTables(nodesOf(plan)));
}

test.each<[string, number, (store: AuditStore) => Promise<unknown>]>([
  ['the newest entry', 1, (store) => store.head()],
  ['the newest seal', 1, (store) => store.newestSeal()],
  ['a page of the list', LIMIT, (store) => store.page({}, MIDDLE, LIMIT)],
  [
    'a page before a time',
    LIMIT,
    (store) => store.page({ to: new Date('2026-01-11T13:00:00Z') }, undefined, LIMIT),
  ],
  [
    'that an actor has never done an action',
    0,
    (store) => store.page({ actor: 'root', actions: ['other.read'] }, undefined, LIMIT),
  ],
  [
    'a page of several actions',
    2 * LIMIT,
    (store) => store.page({ actions: ['test.read', 'other.read'] }, MIDDLE, LIMIT),
  ],
  ['a page of the verification, with its seals', 2 * LIMIT, (store) => store.following(MIDDLE, LIMIT)],
])('%s is found by the index, however long the log is', async (_, rows, read) => {
  expect(await rowsRead(read)).toBe(rows);
});
