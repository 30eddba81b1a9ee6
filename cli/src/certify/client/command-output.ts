import { type ChildProcess, spawn } from 'node:child_process';
import { Unmet } from '../outcome.js';

/** On POSIX, a detached process leads a group of its own, which can be killed as a whole. Windows has no such groups. */
const HAS_PROCESS_GROUPS = process.platform !== 'win32';
/** Signals that end this process. The terminal sends its Ctrl-C only to the group of this process. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command without a shell, and resolves with what it printed. The processes that the command started, such as the
 * client below `npm run`, are killed with it.
 * @param environment variables in addition to those of this process
 * @throws Unmet if the command does not start, or does not end in time
 */
export async function outputOf(
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: HAS_PROCESS_GROUPS,
  });
  const endBoth = (signal: NodeJS.Signals) => {
    kill(child);
    stopListening();
    process.kill(process.pid, signal);
  };
  const stopListening = () => ENDING_SIGNALS.forEach((signal) => process.removeListener(signal, endBoth));
  for (const signal of ENDING_SIGNALS) process.on(signal, endBoth);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.on('error', (error) => reject(new Unmet(`${program} to start`, error.message)));
      child.on('close', () => resolve(output));
      timer = setTimeout(() => {
        kill(child);
        // A process that survives may keep the other end of the pipe open, so that there is no `close`.
        child.stdout.destroy();
        reject(new Unmet(`a verdict within ${timeoutMs} ms`, 'none'));
      }, timeoutMs);
    });
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/** Kills the command and the processes of its group. On Windows, processes that the command started survive. */
function kill(child: ChildProcess): void {
  if (!HAS_PROCESS_GROUPS || child.pid === undefined) {
    child.kill('SIGKILL');
    return;
  }
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All processes of the group have ended.
  }
}
