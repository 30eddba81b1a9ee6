import type { Socket } from 'node:net';

/** What Node keeps on a socket and does not document. Where a version of Node lacks it, the callers still work. */
interface Internals {
  readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
  readonly parser?: { onIncoming: () => number } | null;
}

/** The result of `on_headers_complete` with which llhttp stops, as it does for a request that upgrades. */
const LLHTTP_STOP = 2;

/**
 * How much of what was written to a socket the kernel has accepted. `socket.bytesWritten` does not tell: it counts a
 * buffer as soon as it is queued.
 */
export function kernelProgress(socket: Socket): { sentBytes: number; waitingBytes: number } {
  const { bytesWritten = socket.bytesWritten, writeQueueSize = socket.writableLength } =
    (socket as Internals)._handle ?? {};
  return { sentBytes: bytesWritten - writeQueueSize, waitingBytes: writeQueueSize };
}

/**
 * Drops the requests that are left in the chunk being parsed. Node parses all of a chunk even if its socket has been
 * destroyed meanwhile: 64 KiB hold 1,800 short requests, which take 18 ms.
 */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as Internals;
  if (parser) parser.onIncoming = () => LLHTTP_STOP;
}
