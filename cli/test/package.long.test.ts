import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';

const run = promisify(execFile);
const CLI = fileURLToPath(new URL('..', import.meta.url));
const SDK = fileURLToPath(new URL('../../sdk', import.meta.url));
/** Time-out for npm on a busy machine, in milliseconds. */
const PATIENCE_MS = 60_000;
/** The files of both packages, as a README names them to `npm install`. */
const FILES = /`npm install (\.\/\S+ \.\/\S+)`/;

interface Packed {
  readonly version: string;
  readonly paths: string[];
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let packed: Packed;
/** A project that has only the two tarballs installed. */
let cwd: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  cwd = folder.path;
  packed = await pack(CLI);
  await pack(SDK);
  await writeFile(join(cwd, 'package.json'), '{"private":true}');
  const tarballs = (await filesIn(CLI)).replaceAll('<version>', packed.version).split(' ');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd });
}, PATIENCE_MS);
afterAll(() => folder.remove());

async function filesIn(workspace: string): Promise<string> {
  const [, files = ''] = FILES.exec(await readFile(join(workspace, 'README.md'), 'utf8')) ?? [];
  return files;
}

async function pack(workspace: string): Promise<Packed> {
  // Without scripts, because prepack would rebuild files that other tests are using.
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder.path];
  const { stdout } = await run('npm', args, { cwd: workspace });
  const [{ version, files }] = JSON.parse(stdout) as [{ version: string; files: { path: string }[] }];
  return { version, paths: files.map(({ path }) => path) };
}

test('the tarball has the command and its documents, and no sources', () => {
  expect(packed.paths).toEqual(
    expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', 'bin/croupier-provider.js']),
  );
  expect(packed.paths.filter((path) => /^(test|src)\/|tsbuildinfo/.test(path))).toEqual([]);
});

test('the README of the SDK installs both in the same way', async () => {
  expect(await filesIn(SDK)).toBe(await filesIn(CLI));
});

test('a project runs the command', async () => {
  const help = await run('npx', ['--offline', '@croupier/cli', '--help'], { cwd });
  expect(help.stdout).toContain('debug-signature');
  const binary = join(cwd, 'node_modules/.bin/croupier-provider');
  expect(await run(binary, ['--help'], { cwd })).toEqual(help);
});

test('its reports name the version of the package', async () => {
  const args = ['certify-client', '--only', 'approved', '--json', 'report.json', '--', '/nowhere/client'];
  await expect(run('npx', ['--offline', '@croupier/cli', ...args], { cwd })).rejects.toMatchObject({
    code: 1,
  });
  const { version } = JSON.parse(await readFile(join(CLI, 'package.json'), 'utf8')) as { version: string };
  const report: unknown = JSON.parse(await readFile(join(cwd, 'report.json'), 'utf8'));
  expect(report).toMatchObject({ version });
});

test('it is released with the SDK of the same version', async () => {
  const manifest = async (folder: string) =>
    JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      version: string;
      dependencies?: Record<string, string>;
    };
  const [cli, sdk] = await Promise.all([manifest(CLI), manifest(SDK)]);
  expect(cli.version).toBe(sdk.version);
  expect(cli.dependencies).toEqual({ '@croupier/provider-sdk': sdk.version });
});
