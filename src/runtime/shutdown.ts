import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long before the process is ended the remaining connections are closed, in milliseconds. */
const CLOSING_MS = 2_500;
/** The process ends this long before the time that is promised, in milliseconds. */
const MARGIN_MS = 500;
const IDLE_CHECK_MS = 50;

/** How a service stops that has started. */
export interface Drain {
  /** From the signal until the stop begins, in milliseconds: load balancers notice meanwhile that it is not ready. */
  readonly delayMs: number;
  /** From the end of the delay until the process ends at the latest, in milliseconds. */
  readonly limitMs: number;
}

/** The limit where the start has not finished. */
const NOT_STARTED: Drain = { delayMs: 0, limitMs: 10_000 };

/**
 * On SIGTERM or SIGINT drains and ends the process. In the delay the service still accepts requests, but is not ready.
 * Then it stops: the background work first, then the listener, and what is in flight finishes within the limit.
 *
 * The signal handlers stay to the end: a second Ctrl-C, or the one that npm forwards, must not interrupt a transaction, and
 * without a handler Node lets a signal kill the process.
 *
 * @param server undefined until it has been created
 * @param drain called once at the signal; undefined until the service has started
 */
export function onStopSignal(
  server: () => Server | undefined,
  drain: () => Drain | undefined,
  stop: () => Promise<void>,
): void {
  let stopping = false;
  const begin = () => {
    if (stopping) return;
    stopping = true;
    const { delayMs, limitMs } = drain() ?? NOT_STARTED;
    setTimeout(() => server()?.closeAllConnections(), delayMs + limitMs - MARGIN_MS - CLOSING_MS).unref();
    setTimeout(() => process.exit(1), delayMs + limitMs - MARGIN_MS).unref();
    let idle: NodeJS.Timeout | undefined;
    void sleep(delayMs)
      .then(() => {
        idle = setInterval(() => server()?.closeIdleConnections(), IDLE_CHECK_MS);
        return stop();
      })
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
