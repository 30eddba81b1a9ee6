import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A child process whose output goes to a file. */
export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly running: boolean;
  /** Resolves when it has ended. */
  ended(): Promise<void>;
}

export function start(
  command: string,
  args: readonly string[],
  log: string,
  options: SpawnOptions = {},
): Child {
  const output = openSync(log, 'a');
  const child = spawn(command, args, { ...options, stdio: ['ignore', output, output] });
  closeSync(output);
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => undefined);
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    process: child,
    pid: child.pid ?? 0,
    get running() {
      return running();
    },
    async ended() {
      if (running()) await Promise.race([once(child, 'exit'), failed]);
    },
  };
}

/**
 * Runs a command to its end.
 * @throws Error with its output unless its exit status is 0
 */
export async function run(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<string> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  const text = Buffer.concat(chunks).toString();
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: exit status ${code}\n${text}`);
  return text;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Waits for a condition.
 * @throws Error if it is not met in time
 */
export async function until(
  what: string,
  seconds: number,
  condition: () => Promise<boolean> | boolean,
): Promise<void> {
  const late = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > late) throw new Error(`waited ${seconds} s until ${what}, without success`);
    await sleep(100);
  }
}
