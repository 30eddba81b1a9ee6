import { spawnSync } from 'node:child_process';

/** Whether a program of the operating system can be run here. */
export function installed(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}
