/**
 * Keeps the process alive when standard output or standard error cannot be written to: the reader of the log may go
 * away, and a disk may be full. Without a listener, a stream's `error` event ends the process.
 */
export function tolerateBrokenOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
