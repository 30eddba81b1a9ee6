import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { reconcile } from '../../src/reconciliation/reconciliation.js';
import { csvOf, linesOf } from '../reconciliation/ledger-statement.js';
import { createTestDatabase } from '../world/database.js';
import { SqlConsole } from '../world/sql-console.js';
import { temporaryFolder } from '../world/temporary-folder.js';
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

test('a restored dump passes audit:verify and reconciliation, and answers as before', async ({ skip }) => {
  skip(pgDump < (await serverVersion()), 'pg_dump is missing, or older than the server');
  const world = await startWorld();
  const folder = await temporaryFolder();
  const restored = await createTestDatabase();
  const from = new Date(Date.now() - 60_000);
  try {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    const answer = await world.submit(bet);
    await world.submit(world.transaction(session, 'WIN', { roundId: bet.roundId }));
    await world.admin('POST', `/v1/admin/providers/${PROVIDER}/secret/rotate`, { overlapSeconds: 3600 });
    await world.revoke(session.sessionId);

    const dump = join(folder.path, 'croupier.dump');
    await run('pg_dump', ['--format=custom', `--file=${dump}`, world.databaseUrl]);
    await run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${restored.url}`, dump]);

    const lines: string[] = [];
    const proof = { databaseUrl: restored.url, dataDir: '', secretsKey: SECRETS_KEY };
    expect(await proveAudit(proof, undefined, (line) => void lines.push(line))).toBe(0);
    const original: string[] = [];
    await proveAudit(
      { ...proof, databaseUrl: world.databaseUrl },
      undefined,
      (line) => void original.push(line),
    );
    expect(lines).toEqual(original);
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
