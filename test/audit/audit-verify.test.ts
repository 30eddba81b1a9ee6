import { beforeAll, describe, expect, test } from 'vitest';
import { Audit } from '../../src/audit/audit.service.js';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { type Storage } from '../../src/config/configuration.js';
import { useWorld } from '../world/world.js';
import { tampered } from './tampering.js';

/** The days of the log, oldest first. */
const days: string[] = [];

const world = useWorld();
/** Three days of five entries each; the first day begins with the setup of the world. */
beforeAll(async () => {
  const audit = world.app.get(Audit);
  const [begun] = await world.sql.run<{ day: string }>('SELECT min(day)::text AS day FROM audit_entries');
  for (let day = 0; day < 3; day += 1) {
    await setClock(`timestamptz '${begun!.day} 23:00:00Z' + interval '${day} days'`);
    for (let i = 0; i < 5; i += 1) {
      await audit.record(
        { actor: 'root', role: 'admin', address: '::1' },
        {
          action: 'test.read',
          target: `test:${i}`,
          before: { text: 'Füße\u0000 "\\\u2028 🔑' },
          after: { i },
        },
      );
    }
    const [row] = await world.sql.run<{ day: string }>('SELECT max(day)::text AS day FROM audit_entries');
    days.push(row!.day);
  }
});

async function setClock(expression: string): Promise<void> {
  await world.sql.run(
    `CREATE OR REPLACE FUNCTION audit_now() RETURNS timestamptz LANGUAGE sql AS $$SELECT ${expression}$$`,
  );
}

async function prove(
  head?: string,
  storage: Partial<Storage> = {},
): Promise<{ status: number; said: string[] }> {
  const said: string[] = [];
  const where = { databaseUrl: world.databaseUrl, dataDir: '/nowhere', ...storage };
  const status = await proveAudit(where, head, (line) => said.push(line));
  return { status, said };
}

test('an unaltered log of several days is valid', async () => {
  const { status, said } = await prove();
  expect(status).toBe(0);
  const [row] = await world.sql.run<{ count: number }>('SELECT count(*)::int AS count FROM audit_entries');
  expect(said[0]).toBe(`The audit log is valid: ${row!.count} entries of 3 days.`);
  expect(said[1]).toMatch(new RegExp(`^head ${days[2]!}/5/[0-9a-f]{64}$`));
  expect(new Set(days).size).toBe(3);
});

test('a log of one entry is valid, and counted in the singular', async () => {
  const others = `DELETE FROM audit_entries WHERE day > '${days[0]!}' OR position > 1`;
  const { said } = await tampered(world.sql, others, prove);
  expect(said[0]).toBe('The audit log is valid: 1 entry of 1 day.');
});

describe('if a person', () => {
  const of = (day: number, position: number) => `day = '${days[day]!}' AND position = ${position}`;
  const set = (what: string) => () => `UPDATE audit_entries SET ${what} WHERE ${of(1, 3)}`;

  test.each<[string, () => string]>([
    ['changed the actor', set(`actor = 'nobody'`)],
    ['changed the role', set(`role = 'support'`)],
    ['changed the action', set(`action = 'test.writ'`)],
    ['moved a letter from one field to the next', set(`action = 'test.rea', target = 'd' || target`)],
    ['changed the state before', set(`before = '{}'`)],
    ['respelled the state after', set(`after = '{ "i": 2 }'`)],
    ['removed the address', set('address = NULL')],
    ['invented a request', set(`request_id = 'x'`)],
    ['moved the time by a millisecond', set(`created_at = created_at + interval '1 ms'`)],
    ['changed the hash', set(`hash = sha256('x')`)],
    ['changed the hash before', set(`previous_hash = sha256('x')`)],
    ['deleted the row', () => `DELETE FROM audit_entries WHERE ${of(1, 3)}`],
  ])('%s, that row is named', async (_, statement) => {
    const { status, said } = await tampered(world.sql, statement(), prove);
    expect(status).toBe(1);
    expect(said).toEqual([expect.stringContaining(`broken at ${days[1]!}/3:`)]);
  });

  test('removed a row and closed the gap, that row is named', async () => {
    const { status, said } = await tampered(
      world.sql,
      `DELETE FROM audit_entries WHERE ${of(1, 3)};
       UPDATE audit_entries SET position = position - 1 WHERE day = '${days[1]!}' AND position > 3`,
      prove,
    );
    expect([status, said[0]]).toEqual([1, expect.stringContaining(`broken at ${days[1]!}/3:`)]);
  });

  test('altered a row with its hash, the next row is named', async () => {
    const { status, said } = await tampered(
      world.sql,
      `UPDATE audit_entries SET actor = 'nobody' WHERE ${of(1, 3)};
       UPDATE audit_entries e SET hash = audit_entry_hash(e) WHERE ${of(1, 3)}`,
      prove,
    );
    expect([status, said[0]]).toEqual([1, expect.stringContaining(`broken at ${days[1]!}/4:`)]);
  });

  test('cut off the end of a day, the first row of the next day is named', async () => {
    const { status, said } = await tampered(world.sql, `DELETE FROM audit_entries WHERE ${of(1, 5)}`, prove);
    expect([status, said[0]]).toEqual([1, expect.stringContaining(`broken at ${days[2]!}/1:`)]);
  });

  test('removed a whole day, the first row of the next day is named', async () => {
    const { status, said } = await tampered(
      world.sql,
      `DELETE FROM audit_entries WHERE day = '${days[1]!}'`,
      prove,
    );
    expect([status, said[0]]).toEqual([1, expect.stringContaining(`broken at ${days[2]!}/1:`)]);
  });

  test('removed the beginning, the first remaining row is named', async () => {
    const { status, said } = await tampered(
      world.sql,
      `DELETE FROM audit_entries WHERE day = '${days[0]!}'`,
      prove,
    );
    expect([status, said[0]]).toEqual([1, expect.stringContaining(`broken at ${days[1]!}/1:`)]);
  });
});

describe('a witness', () => {
  test('proves that its entry still exists', async () => {
    const head = String((await prove()).said[1]).replace('head ', '');
    expect((await prove(head)).status).toBe(0);
  });

  test('detects that the end was cut off', async () => {
    const { status, said } = await prove(`${days[2]!}/6/${'a'.repeat(64)}`);
    expect([status, said[0]]).toEqual([1, expect.stringContaining(`broken at ${days[2]!}/6: it is missing`)]);
  });

  test('detects that the whole log was rewritten', async () => {
    const { status, said } = await prove(`${days[1]!}/2/${'a'.repeat(64)}`);
    expect([status, said[0]]).toEqual([
      1,
      expect.stringContaining(`broken at ${days[1]!}/2: it is not the entry`),
    ]);
  });

  test('is refused if it is malformed', async () => {
    await expect(prove('yesterday')).rejects.toThrow('--head: must be DAY/POSITION/HASH');
  });
});

test('after the clock was set back, entries are not dated before existing ones', async () => {
  await setClock(`clock_timestamp() - interval '5 days'`);
  const audit = world.app.get(Audit);
  await audit.record({ actor: 'root', role: 'admin' }, { action: 'test.read', target: 'test:late' });
  const [row] = await world.sql.run<{ place: string }>(
    `SELECT day::text || '/' || position AS place FROM audit_entries WHERE target = 'test:late'`,
  );
  expect(row?.place).toBe(`${days[2]!}/6`);
  expect((await prove()).status).toBe(0);
});

test('an unreadable log is reported as not verified', async () => {
  const unset = { databaseUrl: world.databaseUrl.replace(/\/[^/]*$/, '/no_such_database') };
  await expect(prove(undefined, unset)).rejects.toThrow('does not exist');
});
