/**
 * For `npm run dev`: compiles src/ at each change, and restarts the service and its sandbox when the sources have no
 * errors. Nest's own watch mode would also kill the embedded PostgreSQL, instead of letting the service stop it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const TSC = [
  'node_modules/typescript/bin/tsc',
  '-p',
  'tsconfig.build.json',
  '--watch',
  '--preserveWatchOutput',
];

let service;
let exited;

async function stopService() {
  service?.kill();
  await exited;
}

const compiler = spawn(process.execPath, TSC, { stdio: ['ignore', 'pipe', 'inherit'] });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => compiler.kill());

for await (const line of createInterface({ input: compiler.stdout })) {
  console.log(line);
  if (!line.includes('Found 0 errors')) continue;
  await stopService();
  service = spawn(process.execPath, ['--enable-source-maps', 'dist/main.js'], { stdio: 'inherit' });
  exited = once(service, 'exit');
}
await stopService();
