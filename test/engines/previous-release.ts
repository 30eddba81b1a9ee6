import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The release whose instances run beside this one during an upgrade; moved on with each release. */
const COMMIT = '5eded89f2f';
/** Below this project's packages, where the previous release finds its dependencies. */
const HOME = resolve('node_modules/.cache/croupier-previous');

const run = promisify(execFile);

/**
 * Builds the previous release on first use.
 * @returns its entry point; undefined where this clone's history does not have it
 */
export async function previousRelease(): Promise<string | undefined> {
  const folder = join(HOME, COMMIT);
  const main = join(folder, 'dist/main.js');
  if (existsSync(main)) return main;
  const known = await run('git', ['cat-file', '-e', `${COMMIT}^{commit}`]).then(
    () => true,
    () => false,
  );
  if (!known) return undefined;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(join(unfinished, 'node_modules/@croupier'), { recursive: true });
  const archive = join(unfinished, 'source.tar');
  await run('git', ['archive', '--output', archive, COMMIT, 'src', 'sdk', 'no-telemetry', ...BUILD_FILES]);
  const inFolder = { cwd: unfinished };
  await run('tar', ['-xf', archive], inFolder);
  await symlink('../../sdk', join(unfinished, 'node_modules/@croupier/provider-sdk'));
  // The service only: the build of the whole project needs workspaces that are not in the archive.
  await run('npm', ['run', 'build', '--workspace', 'sdk'], inFolder);
  await run('npx', ['nest', 'build'], inFolder);
  await rename(unfinished, folder);
  return main;
}

const BUILD_FILES = ['package.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'];
