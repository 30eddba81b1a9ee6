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
    SANDBOX: process.env['SANDBOX'] ?? String(process.env['npm_lifecycle_event'] === 'start'),
  };
  return read(environment, { uid: process.getuid?.(), terminal: process.stdout.isTTY });
}

/** The folder from which the user ran `npm run <script>`. npm runs the script in the package's folder. */
export function callersFolder(script: string): string {
  const byNpm = process.env['npm_lifecycle_event'] === script;
  return (byNpm && process.env['INIT_CWD']) || process.cwd();
}
