import type { Server } from 'node:http';

/** How long requests in flight may take to finish, in milliseconds; the whole stop ends within ten seconds. */
const DRAIN_MS = 7_000;
const LIMIT_MS = 9_500;
const IDLE_CHECK_MS = 50;

/**
 * On SIGTERM or SIGINT lets what is in flight finish, stops, and ends the process within ten seconds.
 *
 * A second Ctrl-C, or the one that npm passes on, must not cut the money off: the listener stays to the end, for where
 * there is none, be it for a moment, Node lets a signal kill the process.
 *
 * @param server nothing as long as it has not been made
 */
export function onStopSignal(server: () => Server | undefined, stop: () => Promise<void>): void {
  let stopping = false;
  const begin = () => {
    if (stopping) return;
    stopping = true;
    const idle = setInterval(() => server()?.closeIdleConnections(), IDLE_CHECK_MS);
    setTimeout(() => server()?.closeAllConnections(), DRAIN_MS).unref();
    setTimeout(() => process.exit(1), LIMIT_MS).unref();
    void stop()
      .then(() => 0)
      .catch((error: unknown) => {
        process.stderr.write(`croupier did not stop cleanly: ${String(error)}\n`);
        return 1;
      })
      .then((code) => {
        clearInterval(idle);
        process.exit(code);
      });
  };
  process.on('SIGTERM', begin).on('SIGINT', begin);
}
