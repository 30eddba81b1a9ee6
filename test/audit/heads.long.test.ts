import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Audit } from '../../src/audit/audit.service.js';
import { HeadReporter } from '../../src/audit/head-reporter.js';
import { RepeatedEntries } from '../../src/audit/repeated-entries.js';
import { Metrics } from '../../src/observability/metrics.js';
import { createMigratedDatabase } from '../world/database.js';
import { startApplication, useWorld } from '../world/world.js';

let folder: string;
const lines: string[] = [];

// The process has one logger, that of the first application.
const world = useWorld({ LOG_LEVEL: 'info' }, { write: (line: string) => void lines.push(line) });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'croupier-heads-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function head(): Promise<string> {
  const [row] = await world.sql.run<{ head: string }>(
    `SELECT day::text || '/' || position || '/' || encode(hash, 'hex') AS head
       FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1`,
  );
  return row!.head;
}

const heads = async (file: string) => (await readFile(file, 'utf8')).trimEnd().split('\n');

describe('an instance', () => {
  let instance: Awaited<ReturnType<typeof startApplication>>;
  let file: string;

  const start = async (path: string, databaseUrl = world.databaseUrl) => {
    lines.length = 0;
    file = path;
    const environment = { DATABASE_URL: databaseUrl, AUDIT_HEAD_FILE: file };
    instance = await startApplication(environment, world.clock);
  };
  const tick = () => instance.app.get(HeadReporter).tick();
  const record = () =>
    instance.app.get(Audit).record({ actor: 'root', role: 'admin' }, { action: 'test.read', target: 'test' });
  const recorded = async () =>
    /^croupier_audit_head_recorded (\d)$/m.exec(await instance.app.get(Metrics).text())?.[1];
  const logged = (words: string) => lines.filter((line) => line.includes(words));

  test('appends the head to AUDIT_HEAD_FILE if it has moved, and at stop', async () => {
    await start(join(folder, 'appended'));
    await tick();
    await tick();
    const first = await head();
    await record();
    await tick();
    const second = await head();
    await record();
    await instance.app.close();
    const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z /;
    const written = await heads(file);
    for (const line of written) expect(line).toMatch(moment);
    expect(written.map((line) => line.replace(moment, ''))).toEqual([first, second, await head()]);
  });

  test('appends at stop the head after the repeated entries', async () => {
    await start(join(folder, 'repeated'));
    const entry = { action: 'test.read', target: 'repeated' };
    for (let i = 0; i < 3; i += 1)
      await instance.app.get(RepeatedEntries).record({ actor: 'root', role: 'admin' }, entry);
    await instance.app.close();
    const last = `SELECT entry.target, entry.after ->> 'repeats' AS repeats FROM audit_entries entry
                   ORDER BY day DESC, position DESC LIMIT 1`;
    expect(await world.sql.run(last)).toEqual([{ target: 'repeated', repeats: '2' }]);
    expect((await heads(file)).at(-1)).toContain(await head());
  });

  test('writes the head to its log every hour, and at stop', async () => {
    await start(join(folder, 'logged'));
    world.clock.advance(3_500);
    await tick();
    expect(logged('audit head')).toEqual([]);
    world.clock.advance(100);
    await tick();
    await tick();
    const [day, position, hash] = (await head()).split('/');
    const expected = { context: 'AuditHead', msg: 'audit head', day, position: Number(position), hash };
    expect(logged('audit head').map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining(expected),
    ]);
    await instance.app.close();
    expect(logged('audit head')).toHaveLength(2);
  });

  test('continues if the file cannot be written, and logs the failure and its end once each', async () => {
    await start(join(folder, 'later/heads'));
    for (let i = 0; i < 3; i += 1) await tick();
    expect(logged('cannot be recorded')).toEqual([expect.stringContaining('ENOENT')]);
    expect(await recorded()).toBe('0');
    await mkdir(join(folder, 'later'));
    await tick();
    expect(await recorded()).toBe('1');
    expect(logged('is recorded again')).toHaveLength(1);
    expect(await heads(file)).toEqual([expect.stringContaining(await head())]);
    await instance.app.close();
    expect(logged('cannot be recorded')).toHaveLength(1);
  });

  test('notices at start that the file cannot be written, even if the log is empty', async () => {
    const database = await createMigratedDatabase();
    await start(join(folder, 'none/heads'), database.url);
    await tick();
    expect(logged('cannot be recorded')).toEqual([expect.stringContaining('ENOENT')]);
    await instance.app.close();
    await database.drop();
  });

  test('stops in time, with its head in the log and a warning, if the file cannot be written', async () => {
    await start(join(folder, 'none/heads'));
    await tick();
    lines.length = 0;
    await instance.app.close();
    expect(logged('audit head')).toHaveLength(1);
    expect(logged('cannot be recorded').at(-1)).toContain('none/heads');
  });
});
