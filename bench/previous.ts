import { execFile } from 'node:child_process';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The last build on Fastify, with which the service is compared; figures in docs/performance.md. */
const COMMIT = '2659cb4';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '../../..');
const HOME = join(PROJECT, 'bench/.previous');

/**
 * The service as it was at `COMMIT`, checked out beside the benchmark and built on first use.
 * @returns its folder
 * @throws Error where this clone's history lacks the commit, or the registry does not give its packages
 */
export async function previousBuild(): Promise<string> {
  const folder = join(HOME, COMMIT);
  if (await stat(folder).catch(() => undefined)) return folder;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(HOME, { recursive: true });
  console.log(`building ${COMMIT} …`);
  await run('git', ['clone', '--quiet', '--no-checkout', PROJECT, unfinished]);
  const inFolder = { cwd: unfinished };
  await run('git', ['checkout', '--quiet', COMMIT], inFolder);
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], inFolder);
  await run('npm', ['run', 'build'], inFolder);
  await rename(unfinished, folder);
  return folder;
}
