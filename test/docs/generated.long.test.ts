import { execFile } from 'node:child_process';
import { copyFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../world/temporary-folder.js';
import { PROVIDER, startWorld, type World } from '../world/world.js';

/*
 * The document as a source of code: openapi-typescript makes a client and @hey-api/openapi-ts validators, whose regular
 * expressions have no flag `u`. Both are compiled with the project's compiler options, and book a round.
 */

const ROOT = join(import.meta.dirname, '../..');
/** Time-out of the generators and the compiler on a busy machine, in milliseconds. */
const PATIENCE_MS = 180_000;

const COMPILER = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: { noEmit: false, rootDir: '.', outDir: 'out' },
  include: ['*.ts'],
};

/** What `generated/round.ts` exports, which this project does not compile. */
interface Generated {
  playRound(
    provider: { url: string; tenantId: string; secret: string; unixSeconds: () => number },
    sessionToken: string,
  ): Promise<{
    verified: { playerRef: string };
    bet: { status: string; balance: number };
    win: { status: string; balance: number };
    balance: { balance: number };
  }>;
  verdicts(): { accepted: boolean[]; refused: boolean[] };
}

let world: World;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let generated: Generated;

beforeAll(async () => {
  [world, folder] = await Promise.all([startWorld({ DOCS_ENABLED: 'true' }), temporaryFolder()]);
  const document = (await world.request('/docs-json')).json;
  await createClient({
    input: document,
    output: { path: folder.path, clean: false },
    plugins: ['zod'],
    logs: { level: 'silent', file: false },
  });
  await writeFile(join(folder.path, 'client.ts'), astToString(await openapiTS(JSON.stringify(document))));
  await copyFile(join(import.meta.dirname, 'generated/round.ts'), join(folder.path, 'round.ts'));
  await symlink(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(COMPILER));
  const compile = promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder.path]);
  const complaints = await compile.then(
    () => '',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
  expect(complaints).toBe('');
  generated = (await import(pathToFileURL(join(folder.path, 'out/round.js')).href)) as Generated;
}, PATIENCE_MS);

afterAll(async () => {
  await world.stop();
  await folder.remove();
});

test('the validators have the patterns without the flag u', async () => {
  const validators = await readFile(join(folder.path, 'zod.gen.ts'), 'utf8');
  expect(validators).toContain('.regex(/');
  expect(validators).not.toMatch(/\.regex\(\/.*\/[a-z]*u[a-z]*\)/);
});

test('the generated client and validators book a round', async () => {
  const { sessionToken, playerRef } = await world.launch();
  const { verified, bet, win, balance } = await generated.playRound(
    {
      url: world.url,
      tenantId: PROVIDER,
      secret: world.secrets.get(PROVIDER)!,
      unixSeconds: () => world.clock.unixSeconds(),
    },
    sessionToken,
  );
  expect(verified.playerRef).toBe(playerRef);
  expect([bet.status, win.status]).toEqual(['APPROVED', 'APPROVED']);
  expect(win.balance).toBe(bet.balance + 3_000_000_000);
  expect(balance.balance).toBe(win.balance);
});

test('the validators accept what the service accepts, and refuse an amount in words', () => {
  const { accepted, refused } = generated.verdicts();
  expect(accepted).toEqual(accepted.map(() => true));
  expect(refused).toEqual(refused.map(() => false));
});
