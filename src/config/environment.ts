import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import type { Environment } from './configuration.js';

/** Reads what is asked for from this process's environment, and from a file `.env` beside it if there is one. */
export function readEnvironment<T>(
  read: (environment: Environment, process: { uid: number | undefined; terminal: boolean }) => T,
): T {
  if (existsSync('.env')) loadEnvFile('.env');
  const environment: Environment = {
    ...process.env,
    // The sandbox is what `npm start` is for; the production start is `node dist/main.js`.
    SANDBOX: process.env['SANDBOX'] ?? String(process.env['npm_lifecycle_event'] === 'start'),
  };
  return read(environment, { uid: process.getuid?.(), terminal: process.stdout.isTTY });
}

/** Where a person stands who types `npm run <script>`, which goes to the package's folder first. */
export function callersFolder(script: string): string {
  const byNpm = process.env['npm_lifecycle_event'] === script;
  return (byNpm && process.env['INIT_CWD']) || process.cwd();
}
