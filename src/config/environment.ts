import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import type { Environment } from './variable-reader.js';

/**
 * Reads the configuration from this process's environment, and from a file `.env` in the working directory if there is
 * one.
 */
export function readEnvironment<T>(
  read: (environment: Environment, process: { uid: number | undefined; terminal: boolean }) => T,
): T {
  if (existsSync('.env')) loadEnvFile('.env');
  const environment: Environment = {
    ...process.env,
    // `npm start` starts the sandbox; the production start is `node dist/main.js`.
    SANDBOX: process.env['SANDBOX']?.trim() || String(process.env['npm_lifecycle_event'] === 'start'),
  };
  return read(environment, { uid: process.getuid?.(), terminal: process.stdout.isTTY });
}

/** The folder from which the user ran `npm run <script>`. npm runs the script in the package's folder. */
export function callersFolder(script: string): string {
  const byNpm = process.env['npm_lifecycle_event'] === script;
  return (byNpm && process.env['INIT_CWD']) || process.cwd();
}

/** Options of npm of which a script's option is an abbreviation, with npm's default. */
const ABBREVIATED = new Map([['head', { name: 'heading', byDefault: 'npm' }]]);

/**
 * Whether npm has kept an option of a script for itself, as in `npm run migrate --dry-run` without `--`. The script does
 * not get it then, and would run without it.
 */
export function keptByNpm(script: string, option: string): boolean {
  if (process.env['npm_lifecycle_event'] !== script) return false;
  if (npmConfig(option) !== undefined) return true;
  const whole = ABBREVIATED.get(option);
  return whole !== undefined && (npmConfig(whole.name) ?? whole.byDefault) !== whole.byDefault;
}

function npmConfig(option: string): string | undefined {
  return process.env[`npm_config_${option.replaceAll('-', '_')}`];
}
