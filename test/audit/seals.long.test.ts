import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Audit } from '../../src/audit/audit.service.js';
import { proveAudit } from '../../src/commands/audit-verify.js';
import type { AuditProof } from '../../src/config/configuration.js';
import { startApplication, useWorld } from '../world/world.js';
import { tampered } from './tampering.js';

const KEY = Buffer.alloc(32, 'test');
const OTHER_KEY = Buffer.alloc(32, 'other');
const ROOT = { actor: 'root', role: 'admin' };

let folder: string;

const world = useWorld();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croupier-seals-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function prove(proof: Partial<AuditProof> = {}): Promise<{ status: number; said: string }> {
  const said: string[] = [];
  const where = { databaseUrl: world.databaseUrl, dataDir: '/nowhere', secretsKey: KEY, ...proof };
  const status = await proveAudit(where, undefined, (line) => said.push(line));
  return { status, said: said.join('\n') };
}

async function record(count: number, audit = world.app.get(Audit)): Promise<void> {
  for (let i = 0; i < count; i += 1) await audit.record(ROOT, { action: 'test.read', target: `test:${i}` });
}

/** Writes entries as an instance of the version without seals does. */
async function recordUnsealed(count: number): Promise<void> {
  await world.sql.run(
    `INSERT INTO audit_entries (actor, role, action, target) SELECT 'root', 'admin', 'test.read', 'test'
       FROM generate_series(1, ${count})`,
  );
}

async function places(): Promise<string[]> {
  const rows = await world.sql.run<{ place: string }>(
    `SELECT day::text || '/' || position AS place FROM audit_entries ORDER BY day, position`,
  );
  return rows.map(({ place }) => place);
}

/** Changes the actor of an entry and hashes it and all later ones again, as the trigger does. */
const rewriteFrom = (place: string) => `
  DO $$ DECLARE
    e audit_entries;
    last audit_entries;
  BEGIN
    FOR e IN SELECT * FROM audit_entries ORDER BY day, position LOOP
      IF (e.day, e.position) >= ${pair(place)} THEN
        IF (e.day, e.position) = ${pair(place)} THEN e.actor := 'nobody'; END IF;
        IF last.day = e.day THEN e.previous_hash := last.hash; END IF;
        e.hash := audit_entry_hash(e);
        UPDATE audit_entries SET actor = e.actor, previous_hash = e.previous_hash, hash = e.hash
         WHERE (day, position) = (e.day, e.position);
      END IF;
      last := e;
    END LOOP;
  END $$`;

const pair = (place: string) => `('${place.split('/')[0]}'::date, ${place.split('/')[1]})`;

test('each entry has a seal, and an unaltered log is valid', async () => {
  await record(3);
  const { status, said } = await prove();
  expect([status, said]).toEqual([
    0,
    expect.stringContaining(`Seals: ${(await places()).length} are valid.`),
  ]);
  expect(said).not.toMatch(/none of their own|not sealed|not known/);
});

test('without the key only the chain is verified, which is reported', async () => {
  const said: string[] = [];
  const where = { databaseUrl: world.databaseUrl, dataDir: '/nowhere' };
  expect(await proveAudit(where, undefined, (line) => said.push(line))).toBe(0);
  expect(said.at(-1)).toBe('The seals and the stored secrets were not checked: SECRETS_KEY is not set.');
});

test('entries and seals of a hundred concurrent actions, on two instances, have no gap', async () => {
  const other = await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock);
  try {
    const audits = [world.app.get(Audit), other.app.get(Audit)];
    await Promise.all(Array.from({ length: 100 }, (_, i) => record(1, audits[i % 2])));
  } finally {
    await other.app.close();
  }
  const { status, said } = await prove();
  expect([status, said]).toEqual([
    0,
    expect.stringContaining(`Seals: ${(await places()).length} are valid.`),
  ]);
});

describe('without a head from outside, it detects that', () => {
  let log: string[];
  let last: string;
  let middle: string;

  beforeEach(async () => {
    await record(3);
    log = await places();
    last = log.at(-1)!;
    middle = log.at(-3)!;
  });

  test('the last entry was rewritten, with its hash', async () => {
    await tampered(world.sql, rewriteFrom(last), async () => {
      const { status, said } = await prove();
      expect([status, said]).toEqual([
        1,
        `The audit log is broken at ${last}: it is not the entry that was sealed: it was rewritten, or its seal was.`,
      ]);
    });
  });

  test('the log was rewritten from some entry on, with all hashes', async () => {
    await tampered(world.sql, rewriteFrom(middle), async () => {
      const { status, said } = await prove();
      expect([status, said]).toEqual([
        1,
        expect.stringContaining(`broken at ${middle}: it is not the entry`),
      ]);
    });
  });

  test('the end was cut off', async () => {
    const cut = `DELETE FROM audit_entries WHERE (day, position) > ${pair(middle)}`;
    await tampered(world.sql, cut, async () => {
      const { status, said } = await prove();
      expect([status, said]).toEqual([
        1,
        `The audit log is broken at ${last}: it is missing, but its seal is there: the end of the log was cut off.`,
      ]);
    });
  });

  test('all entries were removed', async () => {
    await tampered(world.sql, 'DELETE FROM audit_entries', async () => {
      expect(await prove()).toMatchObject({ status: 1, said: expect.stringContaining(`broken at ${last}`) });
    });
  });

  test('a seal was removed in the middle', async () => {
    const cut = `DELETE FROM audit_seals WHERE (day, position) = ${pair(middle)}`;
    await tampered(world.sql, cut, async () => {
      const { status, said } = await prove();
      expect(status).toBe(1);
      expect(said).toMatch(
        new RegExp(`broken at ${log.at(-2)!}: seal \\d+ is missing before its seal \\d+\\.$`),
      );
    });
  });

  test('all seals were removed', async () => {
    await tampered(world.sql, 'DELETE FROM audit_seals', async () => {
      const { status, said } = await prove();
      expect([status, said]).toEqual([1, expect.stringContaining('no entry of the log has a seal')]);
    });
  });

  test('seals were exchanged', async () => {
    const exchange = `UPDATE audit_seals SET mac = (SELECT mac FROM audit_seals WHERE (day, position) = ${pair(last)})
      WHERE (day, position) = ${pair(middle)}`;
    await tampered(world.sql, exchange, async () => {
      expect(await prove()).toMatchObject({
        status: 1,
        said: expect.stringContaining(`broken at ${middle}`),
      });
    });
  });

  test('the end was cut off with its seals, under a running service', async () => {
    const instance = await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock);
    try {
      const cut = (table: string) => `DELETE FROM ${table} WHERE (day, position) > ${pair(middle)}`;
      await tampered(world.sql, `${cut('audit_entries')}; ${cut('audit_seals')}`, async () => {
        await record(1, instance.app.get(Audit));
        const { status, said } = await prove();
        expect([status, said]).toEqual([1, expect.stringContaining(`broken at ${log.at(-2)!}: seal`)]);
      });
    } finally {
      await instance.app.close();
    }
  });
});

describe('a head from outside', () => {
  let file: string;
  let log: string[];
  let last: string;

  beforeEach(async () => {
    await record(3);
    log = await places();
    last = log.at(-1)!;
    const lines = await world.sql.run<{ line: string }>(
      `SELECT '2026-01-01T00:00:00.000Z ' || day || '/' || position || '/' || encode(hash, 'hex') AS line
         FROM audit_entries ORDER BY day, position`,
    );
    file = join(folder, 'heads');
    await writeFile(file, `a line that a full disk cut o\n${lines.map(({ line }) => `${line}\n`).join('')}`);
  });

  afterEach(() => rm(file, { force: true }));

  test('is found in an unaltered log, and a malformed line is skipped', async () => {
    const { status, said } = await prove({ auditHeadFile: file });
    expect(status).toBe(0);
    expect(said).toContain(
      `AUDIT_HEAD_FILE: ${log.length} heads of ${file} were read, and none contradicts the log.`,
    );
    expect(said).toContain('AUDIT_HEAD_FILE: lines that are not a head and were skipped: 1.');
  });

  test('detects that the end was cut off with its seals', async () => {
    const cut = (table: string) => `DELETE FROM ${table} WHERE (day, position) >= ${pair(last)}`;
    await tampered(world.sql, `${cut('audit_entries')}; ${cut('audit_seals')}`, async () => {
      expect((await prove()).status).toBe(0);
      expect(await prove({ auditHeadFile: file })).toEqual({
        status: 1,
        said: `The audit log is broken at ${last}: it is missing, although it existed earlier.`,
      });
    });
  });

  test('detects that the end was rewritten without its seals, and sealed again by a new instance', async () => {
    const place = log.at(-2)!;
    const rewrite = `${rewriteFrom(place)}; DELETE FROM audit_seals WHERE (day, position) >= ${pair(place)}`;
    await tampered(world.sql, rewrite, async () => {
      await (await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock)).app.close();
      expect((await prove()).status).toBe(0);
      expect(await prove({ auditHeadFile: file })).toMatchObject({
        status: 1,
        said: expect.stringContaining(`broken at ${place}: it is not the entry that the head was taken from`),
      });
    });
  });

  test('is an error if the file is missing', async () => {
    await expect(prove({ auditHeadFile: join(folder, 'none') })).rejects.toThrow('AUDIT_HEAD_FILE: ENOENT');
  });
});

describe('entries of an earlier version', () => {
  test('are reported until the next seal, which covers them', async () => {
    await recordUnsealed(2);
    expect((await prove()).said).toContain('Seals: 2 entries are not sealed yet; the next seal covers them.');
    await record(1);
    const { status, said } = await prove();
    expect([status, said]).toEqual([0, expect.stringContaining('Seals: 2 entries have none of their own')]);
    expect(said).not.toContain('not sealed yet');
  });

  test('are covered when an instance starts', async () => {
    await recordUnsealed(3);
    await (await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock)).app.close();
    expect((await prove()).said).not.toContain('not sealed yet');
  });

  test('cannot be rewritten once they are covered', async () => {
    await recordUnsealed(1);
    const place = (await places()).at(-1)!;
    await record(1);
    const sealed = (await places()).at(-1)!;
    await tampered(world.sql, rewriteFrom(place), async () => {
      expect(await prove()).toMatchObject({
        status: 1,
        said: expect.stringContaining(`broken at ${sealed}`),
      });
    });
  });
});

test('seals of an unknown key are valid only before a later one of a known key', async () => {
  const last = (await places()).at(-1)!;
  const { status, said } = await prove({ secretsKey: OTHER_KEY });
  expect([status, said]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(`broken at ${last}: its seal was made with key [0-9a-f]{8}, .*SECRETS_KEY_PREVIOUS`),
    ),
  ]);
  expect((await prove({ secretsKey: OTHER_KEY, secretsKeyPrevious: KEY })).status).toBe(0);
});

test.each([
  ['with a number far ahead', `9007199254740991, day, position FROM audit_entries`],
  [
    'of an entry that is yet to come',
    `(SELECT max(number) + 1 FROM audit_seals), day, position + 1 FROM audit_entries`,
  ],
])('the database refuses a seal %s', async (_, values) => {
  const entry = `${values} ORDER BY day DESC, position DESC LIMIT 1`;
  await expect(
    world.sql.run(
      `INSERT INTO audit_seals (number, day, position, key_id, mac)
       SELECT s.*, 'deadbeef', decode(repeat('ab', 32), 'hex') FROM (SELECT ${entry}) s`,
    ),
  ).rejects.toThrow('a seal follows the one before it');
});

test.each(['UPDATE audit_seals SET number = 1', 'DELETE FROM audit_seals', 'TRUNCATE audit_seals'])(
  'the database refuses: %s',
  async (statement) => {
    await expect(world.sql.run(statement)).rejects.toThrow('append-only');
  },
);
