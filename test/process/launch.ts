import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A process of the built service, with its output. */
export interface Launched {
  readonly process: ChildProcess;
  readonly lines: string[];
}

/**
 * Starts the built service with this environment and no other.
 * @param output a file for its output; without one its lines are kept
 * @param main the service's entry point
 */
export function launch(
  environment: Readonly<Record<string, string | undefined>>,
  output: 'pipe' | number = 'pipe',
  main = 'dist/main.js',
): Launched {
  const lines: string[] = [];
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', output, output],
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return { process: child, lines };
}

const PORTS_OF_A_WORKER = 1_000;
/** A sandbox also listens at the two ports after its own. */
const PORTS_OF_A_SERVICE = 3;
const SERVICES_OF_A_WORKER = Math.floor(PORTS_OF_A_WORKER / PORTS_OF_A_SERVICE);
let next = Math.floor(Math.random() * SERVICES_OF_A_WORKER);

/** A port for a service, which it keeps when it is restarted. Another worker of the same run gets other ports. */
export function ownPort(): number {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 1);
  next = (next + 1) % SERVICES_OF_A_WORKER;
  return 20_000 + worker * PORTS_OF_A_WORKER + next * PORTS_OF_A_SERVICE;
}

/** Resolves with the exit status once all output has been read. */
export async function ended({ process: child }: Launched): Promise<number | null> {
  await once(child, 'close');
  return child.exitCode;
}
