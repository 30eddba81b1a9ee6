import { execFile } from 'node:child_process';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The last commit on Fastify. docs/adr/0007-lean-express.md compares the service with it. */
export const FASTIFY = '2659cb4';
/** The last commit that neither bounded the calls to an operator nor refused requests under overload. */
export const UNBOUNDED = '5eded89';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '../../..');
const HOME = join(PROJECT, 'bench/.previous');

/**
 * The service at an earlier commit, checked out into the benchmark's folder and built on first use.
 * @returns its folder
 * @throws Error if this clone's history lacks the commit, or its packages cannot be installed
 */
export async function previousBuild(commit: string): Promise<string> {
  const folder = join(HOME, commit);
  if (await stat(folder).catch(() => undefined)) return folder;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(HOME, { recursive: true });
  console.log(`building ${commit} …`);
  await run('git', ['clone', '--quiet', '--no-checkout', PROJECT, unfinished]);
  const inFolder = { cwd: unfinished };
  await run('git', ['checkout', '--quiet', commit], inFolder);
  await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], inFolder);
  await run('npm', ['run', 'build'], inFolder);
  await rename(unfinished, folder);
  return folder;
}
