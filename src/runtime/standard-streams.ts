/**
 * Keeps the process alive when standard output or standard error cannot be written, for example because the log's
 * reader has ended or a disk is full. Without a listener, a stream's `error` event ends the process.
 */
export function tolerateBrokenOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
