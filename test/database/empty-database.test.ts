import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archiveMonths } from '../../src/commands/audit-archive.js';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { makeMonthsAhead } from '../../src/commands/partitions.js';
import { reEncryptSecrets } from '../../src/commands/re-encrypt.js';
import { atServiceDatabase } from '../../src/commands/service-database.js';
import { reconcile } from '../../src/reconciliation/file-reconciliation.js';
import { HEADER } from '../../src/reconciliation/statement.js';
import { createTestDatabase } from '../world/database.js';
import { temporaryFolder } from '../world/temporary-folder.js';

const KEYS = { secretsKey: Buffer.alloc(32, 'test') };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => ([database, folder] = [await createTestDatabase(), await temporaryFolder()]));
afterAll(async () => {
  await folder.remove();
  await database.drop();
});

const storage = () => ({ databaseUrl: database.url, dataDir: '/nowhere' });
const silent = () => undefined;

async function reconcileStatement(databaseUrl: string) {
  const [statementPath, reportPath] = [join(folder.path, 'march.csv'), join(folder.path, 'findings.csv')];
  await writeFile(statementPath, `${HEADER}\n`);
  const range = { operatorId: 'lucky-casino', from: new Date(0), to: new Date() };
  const task = { ...range, databaseUrl, statementPath, reportPath };
  return reconcile(task, silent, new AbortController().signal);
}

test.each<[string, () => Promise<unknown>]>([
  ['audit:verify', () => proveAudit({ ...storage(), ...KEYS }, undefined, silent)],
  ['audit:archive', () => archiveMonths(storage(), KEYS, '2026-01', folder.path, silent)],
  ['secrets:re-encrypt', () => reEncryptSecrets(storage(), KEYS, silent)],
  ['partitions', () => makeMonthsAhead(storage(), 3, silent)],
  ['reconcile', () => atServiceDatabase(storage(), reconcileStatement)],
])('%s says that a database without the schema has to be migrated first', async (_, run) => {
  await expect(run()).rejects.toThrow(
    /^the schema is missing or not up to date: run npm run migrate first \((relation|function) .* does not exist\)$/,
  );
});
