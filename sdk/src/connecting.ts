import type { ClientRequest } from 'node:http';
import { Socket } from 'node:net';
import process from 'node:process';

/** New connections that are not established, each by the signal of the request that it was opened for. */
const connecting = new WeakMap<AbortSignal, Socket>();

/**
 * Notes whether a request gets a new connection, until that is established. Until then Node sends nothing of the request:
 * it writes the first bytes of the request after `connect`, and with TLS, whose early data it does not use, after
 * `secureConnect`.
 */
export function watchConnection(
  request: ClientRequest,
  established: 'connect' | 'secureConnect',
  signal: AbortSignal,
): void {
  request.on('socket', (socket) => {
    if (!isOfNode(socket) || request.reusedSocket || !socket.connecting) return;
    connecting.set(signal, socket);
    socket.once(established, () => connecting.delete(signal));
  });
}

/** Whether the request with this signal ended before its connection was established: it was not sent, and will not be. */
export function neverConnected(signal: AbortSignal): boolean {
  return connecting.get(signal)?.destroyed === true;
}

/** Bun and Deno have modules of the same names, but send a request independently of these events. */
function isOfNode(socket: unknown): boolean {
  return socket instanceof Socket && !('bun' in process.versions) && !('deno' in process.versions);
}
