import type { Server } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './clock.js';
import { visible } from './visible.js';

/**
 * Time between closing the remaining connections and the end of the process, in milliseconds. It is short, so that the
 * last calls end and are settled before.
 */
const CLOSING_MS = 1_000;
/** How long before the promised limit the process ends, in milliseconds. */
const MARGIN_MS = 500;
const IDLE_CHECK_MS = 50;
/** Longest time for taking the requests that have arrived before the listener closes, in milliseconds. */
const ARRIVED_MS = 250;

export interface Drain {
  /** From the signal until the stop begins, in milliseconds. Meanwhile load balancers notice that it is not ready. */
  readonly delayMs: number;
  /** Longest time from the end of the delay to the end of the process, in milliseconds. */
  readonly limitMs: number;
}

export interface Stopped {
  readonly signal: string;
  /** From the signal, in milliseconds. */
  readonly afterMs: number;
  readonly outcome: 'clean' | 'failed' | 'cut off at the limit';
}

/** The drain of a process that has not finished starting. */
const NOT_STARTED: Drain = { delayMs: 0, limitMs: 10_000 };

/**
 * Drains and ends the process on SIGTERM, SIGINT or SIGHUP, which a closed terminal sends. During the delay the service
 * still accepts requests, but is not ready. Then it stops: the listener closes, no background work begins, and what is
 * in flight finishes within the limit.
 *
 * The signal handlers stay registered until the end, because without a handler a second signal, such as another Ctrl-C
 * or the one that npm forwards, would end the process in the middle of a transaction.
 * @param server returns undefined until the server has been created
 * @param drain called once at the signal; returns undefined until the service has started
 * @param stop stops the service
 * @param onStopped called just before the process ends
 */
export function onStopSignal(
  server: () => Server | undefined,
  drain: () => Drain | undefined,
  stop: () => Promise<void>,
  onStopped: (how: Stopped) => void,
): void {
  let stopping = false;
  const begin = async (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    const signalledMs = monotonicMs();
    const end = (outcome: Stopped['outcome']): never => {
      onStopped({ signal, afterMs: Math.round(monotonicMs() - signalledMs), outcome });
      return process.exit(outcome === 'clean' ? 0 : 1);
    };
    const { delayMs, limitMs } = drain() ?? NOT_STARTED;
    let outcome: Stopped['outcome'] = 'clean';
    const closeConnections = () => {
      // Idle ones are closed already, so these requests are not answered.
      server()?.getConnections((_, open) => {
        if (open > 0) outcome = 'cut off at the limit';
      });
      server()?.closeAllConnections();
    };
    setTimeout(closeConnections, delayMs + limitMs - MARGIN_MS - CLOSING_MS).unref();
    setTimeout(() => end('cut off at the limit'), delayMs + limitMs - MARGIN_MS).unref();
    await sleep(delayMs);
    await takeArrived(server());
    const idle = setInterval(() => setImmediate(() => server()?.closeIdleConnections()), IDLE_CHECK_MS);
    try {
      await stop();
    } catch (error) {
      process.stderr.write(`croupier did not stop cleanly: ${visible(String(error))}\n`);
      outcome = 'failed';
    }
    clearInterval(idle);
    end(outcome);
  };
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(name, (signal) => void begin(signal));
}

/**
 * Accepts the connections and reads the requests that have already arrived. Timers run before Node reads from its
 * sockets, so the delay of a busy process can end while requests wait that arrived long before. Closing their
 * connections would reset them.
 */
async function takeArrived(server: Server | undefined): Promise<void> {
  const late = monotonicMs() + ARRIVED_MS;
  let accepted = 0;
  const count = () => void (accepted += 1);
  server?.on('connection', count);
  // In each turn of the event loop, Node reads from all its sockets but accepts only one connection.
  for (let before = -1; accepted > before && monotonicMs() < late; await nextTurn()) before = accepted;
  server?.off('connection', count);
}
