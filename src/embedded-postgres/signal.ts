/**
 * Sends a signal to a process, or to a process group if the number is negative; the signal 0 only checks whether it
 * exists.
 * @returns whether there is such a process, of any user
 */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
