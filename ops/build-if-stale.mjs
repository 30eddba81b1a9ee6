/**
 * For `npm start`: builds the service if a source is newer than the build. A build takes about twenty seconds, so
 * this script first checks what would make the start fail: the configuration, the ports and the data folder. With
 * arguments, such as --help, the service does not start: then any build will do.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Written by `npm run build` after it has succeeded. */
const BUILT = 'dist/.built';
const SOURCES = [
  'src',
  'sdk/src',
  'sdk/README.md',
  'sdk/docs/other-languages.md',
  'sdk/package.json',
  'sdk/test-vectors.json',
  'sdk/finish-build.mjs',
  'README.md',
  'docs/contract.md',
  'docs/glossary.md',
  'docs/integrate',
  'docs/llms.txt',
  'docs/openapi/provider.json',
  'docs/reconciliation.md',
  'docs/sandbox.md',
  'sdk/tsconfig.json',
  'sdk/tsconfig.cjs.json',
  'cli/README.md',
  'cli/src',
  'cli/package.json',
  'cli/tsconfig.json',
  'console/src',
  'console/index.html',
  'console/package.json',
  'console/tsconfig.json',
  'console/vite.config.ts',
  'ops/copy-guides.mjs',
  'package.json',
  'package-lock.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** The last change of a file, or of anything in a folder, in milliseconds. */
function changedMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedMs(join(path, name))));
}

function isFresh() {
  if (!existsSync(BUILT)) return false;
  const builtMs = statSync(BUILT).mtimeMs;
  // A deployment may consist of the build only.
  return SOURCES.filter((path) => existsSync(path)).every((path) => changedMs(path) < builtMs);
}

const starts = process.argv.length === 2;

if (starts ? !isFresh() : !existsSync(BUILT)) {
  if (starts) {
    const { runnerImport } = await import('vite');
    const { module } = await runnerImport('./src/commands/start-check.ts', { logLevel: 'error' });
    await module.checkStart();
  }
  if (process.exitCode === undefined) {
    console.log('building …');
    const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit', shell: true });
    process.exitCode = status ?? 1;
  }
}
