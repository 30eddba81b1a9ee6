import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../world/temporary-folder.js';

const project = join(import.meta.dirname, '../..');
/** Replaces the build, which takes too long for a test. */
const BUILD = `node -e "fs.mkdirSync('dist', { recursive: true }); fs.writeFileSync('dist/.built', '')"`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let taken: Server;

beforeEach(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder.path, 'package.json'), JSON.stringify({ scripts: { build: BUILD } }));
  for (const name of ['node_modules', 'tsconfig.json', 'ops']) {
    await symlink(join(project, name), join(folder.path, name));
  }
  await cp(join(project, 'src'), join(folder.path, 'src'), { recursive: true });
  await mkdir(join(folder.path, 'console'));
  await writeFile(join(folder.path, 'console/tsconfig.json'), '{}');
  await mkdir(join(folder.path, 'sdk/dist/esm'), { recursive: true });
  await writeFile(join(folder.path, 'sdk/dist/esm/index.js'), '');
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
});
afterEach(async () => {
  taken.close();
  await folder.remove();
});

/** Runs the script as `npm start` would. */
function run(environment: Record<string, string> = {}): Promise<{ status: number; output: string }> {
  const env = {
    PATH: process.env['PATH'],
    npm_lifecycle_event: 'start',
    PORT: '0',
    DATA_DIR: join(folder.path, 'data'),
    ...environment,
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(project, 'ops/build-if-stale.mjs')],
      { cwd: folder.path, env },
      (error, stdout, stderr) => resolve({ status: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

test('it builds if there is no build, and not if the build is newer than its sources', async () => {
  expect(await run()).toEqual({ status: 0, output: 'building …\n' });
  expect(await run()).toEqual({ status: 0, output: '' });
});

test.each(['src/wallet/wallet.service.ts', 'console/tsconfig.json'])(
  'it builds again after %s has changed',
  async (source) => {
    await mkdir(join(folder.path, 'dist'));
    await writeFile(join(folder.path, 'dist/.built'), '');
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder.path, source), later, later);
    expect(await run()).toEqual({ status: 0, output: 'building …\n' });
  },
);

test('a port that is taken is reported before the build', async () => {
  const { port } = taken.address() as AddressInfo;
  expect(await run({ PORT: String(port) })).toEqual({
    status: 1,
    output: `croupier does not start: PORT: ${port} is taken on 127.0.0.1\n`,
  });
  expect(await run({ PORT: String(port - 1), SANDBOX: 'true' })).toEqual({
    status: 1,
    output: `croupier does not start: PORT+1: ${port} is taken on 127.0.0.1\n`,
  });
});

test('an invalid configuration is reported before the build', async () => {
  const { status, output } = await run({ PORT: 'none' });
  expect(status).toBe(1);
  expect(output).toMatch(/^croupier does not start: PORT: .*\n$/);
});
