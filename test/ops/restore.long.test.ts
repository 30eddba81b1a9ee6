import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test, type TestContext } from 'vitest';
import { HeadReporter } from '../../src/audit/head-reporter.js';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { reconcile } from '../../src/reconciliation/file-reconciliation.js';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { csvOf, linesOf } from '../reconciliation/ledger-statement.js';
import { createTestDatabase } from '../world/database.js';
import { SqlConsole } from '../world/sql-console.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { Transactions } from '../world/transactions.js';
import { OPERATOR, PROVIDER, startWorld } from '../world/world.js';

const run = promisify(execFile);
const SECRETS_KEY = Buffer.alloc(32, 'test');

/** The major version of pg_dump here, 0 if there is none. It dumps servers up to its own version. */
const pgDump = Number(
  /(\d+)\./.exec(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout || '')?.[1] ?? 0,
);

async function serverVersion(): Promise<number> {
  const sql = SqlConsole.open(inject('databaseUrl'));
  const [row] = await sql.run<{ major: number }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS major`,
  );
  await sql.close();
  return row!.major;
}

/** The commands or statements of a step of docs/operations.md, "Back up and restore". */
function blocksOfStep(step: number): string[] {
  const page = readFileSync('docs/operations.md', 'utf8');
  const [, restore = ''] = page.split('\nTo restore:\n');
  const text = restore.slice(restore.indexOf(`\n${step}. `), restore.indexOf(`\n${step + 1}. `));
  return Array.from(text.matchAll(/```\w+\n([^`]*?)\s*```/g), ([, block]) => block!.trim());
}

async function copy(from: string, to: string, folder: string): Promise<void> {
  const dump = join(folder, 'croupier.dump');
  await run('pg_dump', ['--format=custom', `--file=${dump}`, from]);
  await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${to}`, dump]);
}

const needsPgDump = async (skip: TestContext['skip']) =>
  skip(pgDump < (await serverVersion()), 'pg_dump is missing, or older than the server');

test('a restored dump passes audit:verify and reconciliation, and answers as before', async ({ skip }) => {
  await needsPgDump(skip);
  const folder = await temporaryFolder();
  const headFile = join(folder.path, 'heads');
  const world = await startWorld({ AUDIT_HEAD_FILE: headFile });
  const restored = await createTestDatabase();
  const from = new Date(Date.now() - 60_000);
  try {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    const answer = await world.submit(bet);
    await world.submit(world.transaction(session, 'WIN', { roundId: bet.roundId }));
    await world.admin('POST', `/v1/admin/providers/${PROVIDER}/secret/rotate`, { overlapSeconds: 3600 });
    await world.revoke(session.sessionId);

    await world.app.get(HeadReporter).tick();
    await copy(world.databaseUrl, restored.url, folder.path);

    // An entry that the backup does not have, and step 1.
    await world.admin('POST', `/v1/admin/providers/${PROVIDER}/secret/rotate`, { overlapSeconds: 3600 });
    await world.app.get(HeadReporter).tick();
    const moved = join(folder.path, 'moved');
    await rename(headFile, moved);
    const heads = (await readFile(moved, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').at(-1)!);
    const [verify = '', verifyHead = '', ...more] = blocksOfStep(3);
    expect(more).toEqual([]);
    const step3 = (command: string, HEAD = '') =>
      spawnSync('sh', ['-c', command], {
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          AUDIT_HEAD_FILE: headFile,
          SECRETS_KEY: SECRETS_KEY.toString('base64'),
          RESTORED_DATABASE_URL: restored.url,
          HEAD,
        },
      });
    expect(step3(verify)).toMatchObject({ status: 0, stdout: expect.stringContaining('is valid') });
    expect(heads.map((head) => step3(verifyHead, head).status)).toEqual([0, 1]);

    const lines: string[] = [];
    const proof = { databaseUrl: restored.url, dataDir: '', secretsKey: SECRETS_KEY };
    expect(await proveAudit(proof, undefined, (line) => void lines.push(line))).toBe(0);
    expect(lines.join('\n')).toMatch(/The audit log is valid: \d+ entries/);

    const statement = join(folder.path, 'statement.csv');
    await writeFile(statement, csvOf(linesOf(world.wallet.entries)));
    const outcome = await reconcile(
      {
        databaseUrl: restored.url,
        operatorId: OPERATOR,
        from,
        to: new Date(Date.now() + 3_600_000),
        statementPath: statement,
        reportPath: join(folder.path, 'report.csv'),
      },
      () => undefined,
      new AbortController().signal,
    );
    expect(new Set(Object.values(outcome.findings))).toEqual(new Set([0]));
    expect(outcome.matched).toBe(2);

    const instance = await world.another(world.clock, { DATABASE_URL: restored.url });
    const replay = await instance.submit(bet);
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    expect(replay.text).toBe(answer.text);
    await instance.app.close();
  } finally {
    await world.stop();
    await restored.drop();
    await folder.remove();
  }
});

test('a BET that was approved after the dump is not taken back from the restored one', async ({ skip }) => {
  await needsPgDump(skip);
  const folder = await temporaryFolder();
  // A dump takes longer than the short time-out of tests.
  const world = await startWorld({ OPERATOR_TIMEOUT_MS: '20000', TRANSACTION_LEASE_SECONDS: '25' });
  const restored = await createTestDatabase();
  const sql = SqlConsole.open(restored.url);
  try {
    const session = await world.launch();
    const transactions = new Transactions(world);
    const bet = await transactions.timedOut(world.transaction(session, 'BET'));
    const pending = await transactions.pending(world.transaction(session, 'BET'));
    await copy(world.databaseUrl, restored.url, folder.path);
    expect((await world.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
    pending.release();
    expect((await pending.answer).json).toMatchObject({ status: 'APPROVED' });

    const [park = '', ...more] = blocksOfStep(5);
    expect(more).toEqual([]);
    await sql.run(park);
    await sql.run(
      `UPDATE transactions SET updated_at = updated_at - interval '1 hour', lease_until = lease_until - interval '1 hour'`,
    );
    const instance = await world.another(world.clock, { DATABASE_URL: restored.url });
    await instance.app.get(Resolver).tick();
    expect(world.wallet.entries.map(({ kind }) => kind)).toEqual(['BET', 'BET']);
    expect((await instance.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
    await instance.app.close();
  } finally {
    await sql.close();
    await world.stop();
    await restored.drop();
    await folder.remove();
  }
});
