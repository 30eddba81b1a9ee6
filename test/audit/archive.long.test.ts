import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditEntryOf } from '../../src/audit/archive/archive.js';
import { writeArchive } from '../../src/audit/archive/archive-file.js';
import { copyPartition, endedPartitions } from '../../src/audit/archive/archiving.js';
import { Audit, auditOver } from '../../src/audit/audit.service.js';
import { headText, type Witness } from '../../src/audit/entry.js';
import { Sealer } from '../../src/audit/sealer.js';
import { archiveMonths, detachArchive } from '../../src/commands/audit-archive.js';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { reEncryptSecrets } from '../../src/commands/re-encrypt.js';
import type { AuditProof } from '../../src/config/configuration.js';
import { Database } from '../../src/database/database.js';
import { repeatSecretEntries } from '../../src/tenancy/secrets/re-encryption.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { PROVIDER, useWorld } from '../world/world.js';
import { tampered } from './tampering.js';

const KEY = Buffer.alloc(32, 'test');
const NEW_KEY = Buffer.alloc(32, 'new key');
const ROOT = { actor: 'root', role: 'admin' };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
/** An early head of the log, as it would be kept outside the database. */
let oldHead: string;
/** Month of the audit log's clock, `YYYY-MM`, by the number of months from now. */
const months: string[] = [];

const world = useWorld();
beforeAll(async () => {
  folder = await temporaryFolder();
  oldHead = await head();
  await record(3);
  for (let month = 2; month < 4; month += 1) {
    await setClock(month);
    await record(1200);
  }
  await setClock(4);
  for (let month = 0; month <= 4; month += 1) {
    const [row] = await world.sql.run<{ month: string }>(
      `SELECT to_char(${monthStart(month)}, 'YYYY-MM') AS month`,
    );
    months.push(row!.month);
  }
}, 60_000);

afterAll(() => folder.remove());

/** The partitions of a new database begin with next month, or a month later if this one is nearly over. */
const monthStart = (months: number) =>
  `date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + interval '${months} months'`;

async function setClock(months: number): Promise<void> {
  await world.sql.run(
    `CREATE OR REPLACE FUNCTION audit_now() RETURNS timestamptz LANGUAGE sql AS
     $$SELECT (${monthStart(months)} + interval '10 days') AT TIME ZONE 'UTC'$$`,
  );
}

async function record(count: number): Promise<void> {
  const audit = world.app.get(Audit);
  await audit.change(ROOT, async (_, add) => {
    for (let i = 0; i < count; i += 1) {
      const after = { text: 'Füße "\\\u2028 🔑', i };
      await add({ action: 'test.read', target: `test:${i}`, after });
    }
  });
}

const storage = () => ({ databaseUrl: world.databaseUrl, dataDir: '/nowhere' });
const path = (name: string) => join(folder.path, name);
const files = async () => (await readdir(folder.path)).filter((name) => name.startsWith('audit_')).sort();
/** The file names in the lines, in the order of the lines. */
const namesIn = (said: string[]) => said.flatMap((line) => /[^/]+\.jsonl/.exec(line)?.[0] ?? []);

async function archive(month: string): Promise<string[]> {
  const said: string[] = [];
  await archiveMonths(storage(), { secretsKey: KEY }, month, folder.path, (line) => said.push(line));
  return said;
}

async function detach(file: string): Promise<string[]> {
  const said: string[] = [];
  await detachArchive(storage(), path(file), (line) => said.push(line));
  return said;
}

async function prove(
  archives: readonly string[] = [],
  { head, ...proof }: Partial<AuditProof> & { head?: string } = {},
): Promise<{ status: number; said: string }> {
  const said: string[] = [];
  const where = { ...storage(), secretsKey: KEY, ...proof };
  const status = await proveAudit(where, head, (line) => said.push(line), archives.map(path));
  return { status, said: said.join('\n') };
}

async function head(): Promise<string> {
  const { said } = await prove();
  return /^head (.*)$/m.exec(said)![1]!;
}

async function count(): Promise<number> {
  const [row] = await world.sql.run<{ count: number }>('SELECT count(*)::int AS count FROM audit_entries');
  return row!.count;
}

/** Copies an archive without its first entries. The header names what precedes the rest: that takes no key. */
async function withoutBeginning(name: string, removed: number, partition?: string): Promise<string> {
  const [first, ...rest] = (await readFile(path(name), 'utf8')).trimEnd().split('\n');
  const header = JSON.parse(first!) as { partition: string; lastSeal: number };
  const cut = rest
    .slice(0, removed)
    .map((line) => JSON.parse(line) as Witness & { seal: { number: number } | null });
  const lastSeal = Math.max(header.lastSeal, ...cut.map(({ seal }) => seal?.number ?? 0));
  const forged = {
    ...header,
    partition: partition ?? header.partition,
    follows: headText(cut.at(-1)!),
    lastSeal,
  };
  const file = `beginning-cut-from-${name}`;
  await writeFile(path(file), `${[JSON.stringify(forged), ...rest.slice(removed)].join('\n')}\n`);
  return file;
}

/** Ends the clock's month, whose entries are in the default partition, and begins another one. */
async function beginMonth(months: number): Promise<void> {
  await world.sql.run(`SELECT adopt_default('audit_entries')`);
  await setClock(months);
}

let entries: number;
let names: string[];
/** The archive of the month that has the records of `names`. */
let nextName: string;

test('a run that was interrupted does not keep a later one from writing the same file', async () => {
  const path = join(folder.path, 'later', 'audit_entries_so_far.jsonl');
  await mkdir(dirname(path));
  const header = { partition: 'audit_entries_so_far', follows: undefined, lastSeal: 0 };
  const write = (check: () => Promise<void>) => writeArchive(path, header, Readable.from([]), check);
  await expect(
    write(async () => {
      await write(() => Promise.resolve());
      throw new Error('interrupted');
    }),
  ).rejects.toThrow('interrupted');
  expect(await readdir(dirname(path))).toEqual(['audit_entries_so_far.jsonl']);
});

test('months are copied to files, which are verified and recorded; the current month stays', async () => {
  entries = await count();
  const said = await archive(months[4]!);
  names = namesIn(said);
  expect(await files()).toEqual(names.toSorted());
  expect(said).toHaveLength(names.length + 1);
  expect(said.at(-1)).toBe(
    `Partitions archived: ${names.length}. Of the months before ${months[4]}, all that are over are archived now, or have no entries.`,
  );
  expect(names.length).toBeGreaterThanOrEqual(2);
  expect(names[0]).toBe('audit_entries_so_far.jsonl');
  const lines = (await Promise.all(names.map((name) => readFile(path(name), 'utf8')))).map(
    (text) => text.trimEnd().split('\n').length - 1,
  );
  // The entries of the world's setup may belong to the month before the first partition, or to the first partition.
  expect(lines.reduce((sum, each) => sum + each, 0)).toBe(entries);
  const { items } = (await world.admin('GET', '/v1/admin/audit?action=audit.archive')).json as {
    items: { target: string; role: string; after: { entries: number } }[];
  };
  expect(items.map(({ target }) => target).reverse()).toEqual(
    names.map((name) => `archive:${name.replace('.jsonl', '')}`),
  );
  expect(items[0]).toMatchObject({ role: 'command', after: { entries: lines.at(-1) } });
  expect((await prove()).said).not.toContain('begins after');
});

test('a repeated run does not archive recorded partitions again', async () => {
  for (const month of [months[4]!, '2999-01']) {
    expect(await archive(month)).toEqual([
      `Nothing to archive. Of the months before ${month}, all that are over are archived now, or have no entries.`,
    ]);
  }
  const noFolder = archiveMonths(storage(), { secretsKey: KEY }, '2999-01', path(names[0]!), () => undefined);
  await expect(noFolder).rejects.toThrow('EEXIST');
  expect(await files()).toEqual(names.toSorted());
});

describe('a partition is detached only', () => {
  test('if it is the oldest', async () => {
    await expect(detach(names[1]!)).rejects.toThrow('is not the oldest partition with entries');
  });

  test('if the file is the recorded one', async () => {
    const text = await readFile(path(names[0]!), 'utf8');
    await writeFile(path('shorter.jsonl'), text.trimEnd().split('\n').slice(0, -1).join('\n'));
    await expect(detach('shorter.jsonl')).rejects.toThrow('the log has no record of exactly this file');
    await writeFile(path('altered.jsonl'), text.replace('"actor":"root"', '"actor":"nobody"'));
    await expect(detach('altered.jsonl')).rejects.toThrow('the file is not valid at');
    await writeFile(path('other.jsonl'), '{"format":"csv"}\n');
    await expect(detach('other.jsonl')).rejects.toThrow('it is not an archive of the audit log');
  });

  test('if its entries are those of the file', async () => {
    const oneEntry = `(SELECT day, position FROM audit_entries WHERE target = 'test:1' ORDER BY day LIMIT 1)`;
    await tampered(world.sql, `DELETE FROM audit_entries WHERE (day, position) = ${oneEntry}`, () =>
      expect(detach(names[0]!)).rejects.toThrow('does not have exactly the entries of the file'),
    );
  });
});

test('after all are detached and dropped, the log is valid from the end of the last archive', async () => {
  const outcomes: string[] = [];
  for (const name of names) {
    const table = name.replace('.jsonl', '');
    expect(await detach(name)).toEqual([
      `Detached ${table}. When the file is stored safely: DROP TABLE ${table};`,
    ]);
    await world.sql.run(`DROP TABLE ${table}`);
    const { status, said } = await prove();
    outcomes.push(`${status} ${/The log begins after the archive (\w+)/.exec(said)?.[1]}`);
  }
  expect(outcomes).toEqual(names.map((name) => `0 ${name.replace('.jsonl', '')}`));
  const { said } = await prove();
  expect(said).toContain('Seals: ');
  expect(said).not.toMatch(/not sealed|not known|none of their own/);
  await world.admin('POST', `/v1/admin/providers/${PROVIDER}/secret/rotate`, { overlapSeconds: 60 });
  expect((await prove()).status).toBe(0);
});

test('secrets whose entries are archived are still verified', async () => {
  const { said } = await prove();
  expect(said).toContain('Secrets: 4 tenants have the secrets that their latest log entries name.');
});

describe('archived entries are proved by their seals, which stay', () => {
  test('in one file, and in all of them', async () => {
    const one = await prove([names[1]!]);
    expect([one.status, one.said]).toEqual([
      0,
      expect.stringContaining('The archive is recorded in the audit log'),
    ]);
    const all = await prove(names);
    expect([all.status, all.said]).toEqual([
      0,
      expect.stringContaining(`The archive is valid: ${entries} entries of`),
    ]);
  });

  test.each<[string, (lines: string[]) => string[], RegExp]>([
    [
      'an altered entry',
      (lines) => lines.with(2, lines[2]!.replace('"root"', '"noot"')),
      /is broken at .*content/,
    ],
    ['a removed entry', (lines) => lines.toSpliced(2, 1), /is broken at .*it is missing, or was moved/],
    [
      'a removed end',
      (lines) => lines.slice(0, -1),
      /is broken at .*the log has no record of exactly this file/,
    ],
    [
      'a removed seal',
      (lines) => lines.with(2, lines[2]!.replace(/"seal":.*/, '"seal":null}')),
      /its seal in the file/,
    ],
  ])('%s in the file is named', async (_, alter, expected) => {
    const lines = (await readFile(path(names[0]!), 'utf8')).trimEnd().split('\n');
    await writeFile(path('tampered.jsonl'), `${alter(lines).join('\n')}\n`);
    const { status, said } = await prove(['tampered.jsonl']);
    expect([status, said]).toEqual([1, expect.stringMatching(expected)]);
  });

  test('a removed beginning is detected in the first of two files', async () => {
    const cut = await withoutBeginning(names[0]!, 2);
    const { status, said } = await prove([cut, names[1]!]);
    expect([status, said]).toEqual([
      1,
      expect.stringMatching(/beginning-cut.*no record of exactly this file/),
    ]);
  });

  test('a removed beginning is detected in a single file that claims to be of another month', async () => {
    const cut = await withoutBeginning(names[1]!, 10, 'audit_entries_2000_01');
    const { status, said } = await prove([cut]);
    expect([status, said]).toEqual([
      1,
      expect.stringMatching(/beginning-cut.*no record of exactly this file/),
    ]);
  });

  test('a removed end is detected in a file that claims to be of another month', async () => {
    const lines = (await readFile(path(names[1]!), 'utf8')).trimEnd().split('\n').slice(0, -3);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ seal: { mac: expect.any(String) as string } });
    lines[0] = lines[0]!.replace(/audit_entries_\w+/, 'audit_entries_2000_01');
    await writeFile(path('end-cut.jsonl'), `${lines.join('\n')}\n`);
    const { status, said } = await prove(['end-cut.jsonl']);
    expect([status, said]).toEqual([1, expect.stringMatching(/end-cut.*no record of exactly this file/)]);
  });

  test('files that are not consecutive are refused', async () => {
    const { status, said } = await prove([names[1]!, names[0]!]);
    expect([status, said]).toEqual([1, expect.stringContaining('it does not continue the file before it')]);
  });

  test('a head of an archived entry is compared with its seal', async () => {
    expect(await prove([], { head: oldHead })).toMatchObject({ status: 0 });
    const { status, said } = await prove([], { head: oldHead.replace(/.{64}$/, 'a'.repeat(64)) });
    expect([status, said]).toEqual([
      1,
      expect.stringContaining('it is not the entry that the head was taken from'),
    ]);
    expect((await prove([], { head: oldHead, secretsKey: NEW_KEY })).status).toBe(1);
  });

  test('a removed seal of an archived entry is detected', async () => {
    const { status, said } = await tampered(world.sql, 'DELETE FROM audit_seals WHERE number = 2', () =>
      prove(),
    );
    expect([status, said]).toEqual([1, expect.stringContaining('seals up to this archived entry are there')]);
  });
});

describe('a beginning that was removed without a genuine record is detected', () => {
  test.each([
    [
      'if more than the archive is missing',
      'DELETE FROM audit_entries WHERE (day, position) = (SELECT day, position FROM audit_entries ORDER BY day, position LIMIT 1)',
      'the log records no archive that ends before it',
    ],
    [
      'if the record was altered',
      `UPDATE audit_entries SET actor = 'x' WHERE action = 'audit.archive'`,
      'was altered',
    ],
    [
      'if the record has no seal',
      `DELETE FROM audit_seals s USING audit_entries e WHERE e.action = 'audit.archive' AND (s.day, s.position) = (e.day, e.position)`,
      'has no seal',
    ],
    [
      'if the seal of the record is another one',
      `UPDATE audit_seals s SET mac = sha256(mac) FROM audit_entries e
        WHERE e.action = 'audit.archive' AND (s.day, s.position) = (e.day, e.position)`,
      'is not the entry that was sealed',
    ],
  ])('%s', async (_, statements, reason) => {
    const { status, said } = await tampered(world.sql, statements, () => prove());
    expect([status, said]).toEqual([1, expect.stringContaining(reason)]);
  });
});

test('a file is still proved after the month that has its record is archived and detached', async () => {
  await beginMonth(5);
  nextName = namesIn(await archive('2999-01'))[0]!;
  await detach(nextName);
  expect(await prove([names[0]!])).toMatchObject({ status: 0 });
  expect(await prove([...names, nextName])).toMatchObject({ status: 0 });
});

test('after a rotation of SECRETS_KEY the archives are recorded again under the new key', async () => {
  const both = { secretsKey: NEW_KEY, secretsKeyPrevious: KEY };
  expect((await prove([], { secretsKey: NEW_KEY })).said).toContain('run npm run secrets:re-encrypt');

  await world.sql.run(
    `CREATE FUNCTION refuse_archive() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'refused by the test'; END$$;
     CREATE TRIGGER refuse_archive BEFORE INSERT ON audit_entries FOR EACH ROW
       WHEN (NEW.action = 'audit.archive') EXECUTE FUNCTION refuse_archive()`,
  );
  const printed: string[] = [];
  const interrupted = reEncryptSecrets(storage(), both, (line) => printed.push(line));
  await expect(interrupted).rejects.toThrow('refused by the test');
  expect(printed).toEqual([expect.stringContaining('Re-encrypted the secrets of')]);
  await world.sql.run('DROP FUNCTION refuse_archive CASCADE');

  await reEncryptSecrets(storage(), both, () => undefined);
  const before = await count();
  await reEncryptSecrets(storage(), both, () => undefined);
  expect(await count()).toBe(before);
  const { status, said } = await prove(names, { secretsKey: NEW_KEY, head: oldHead });
  expect([status, said]).toEqual([0, expect.stringContaining('heads of archived entries were not compared')]);
  expect(said).toContain('The archive is recorded in the audit log');
});

test('a file whose record was archived by an earlier version is proved by the later files', async () => {
  const keys = { secretsKey: NEW_KEY, secretsKeyPrevious: KEY };
  await beginMonth(6);
  const database = world.app.get(Database);
  const [partition] = (await endedPartitions(database, '2999-01')).slice(-1);
  const sealer = new Sealer(keys);
  const { archive } = (await copyPartition(database, sealer, partition!, folder.path))!;
  const audit = auditOver(database, sealer);
  // An earlier version repeated the entries about secrets, but not the records of earlier archives.
  await audit.change(ROOT, async ({ query }, record) => {
    await repeatSecretEntries(query, audit, record, () => true);
    await record(auditEntryOf(archive));
  });
  const last = `${partition!.name}.jsonl`;
  await detach(last);

  const { status, said } = await prove([names[0]!], keys);
  expect([status, said]).toEqual([1, expect.stringContaining('no record of exactly this file')]);
  const all = await prove([...names, nextName, last], keys);
  expect([all.status, all.said]).toEqual([
    0,
    expect.stringContaining('The archive is recorded in the audit log'),
  ]);
  const cut = await withoutBeginning(names[0]!, 2);
  const { status: found } = await prove([cut, ...names.slice(1), nextName, last], keys);
  expect(found).toBe(1);
});
