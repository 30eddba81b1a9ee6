import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Notices bytes that a kept-alive connection delivers after the answer to its call. A client takes such bytes for the
 * answer to its next call on that connection.
 */
export class ConnectionWatch {
  /** For each idle connection, its latest call and how many bytes it had delivered when the answer was complete. */
  private readonly idle = new Map<Socket, { call: string; answeredAtByte: number }>();
  private readonly surplus: string[] = [];

  /** @param name names the call in the result of `callsWithSurplus` */
  follow(call: ClientRequest, name: string): void {
    call.on('socket', (socket) => this.reuse(socket));
    call.on('response', (response) => response.on('end', () => this.answered(call, name)));
  }

  /** The names of the calls after whose answers more bytes have arrived so far. */
  callsWithSurplus(): string[] {
    return [...this.surplus, ...[...this.idle.keys()].flatMap((socket) => this.surplusOf(socket))];
  }

  private answered({ socket, shouldKeepAlive }: ClientRequest, name: string): void {
    if (!socket) return;
    // node:http destroys a kept-alive connection if the packet that completes the answer has more bytes.
    if (shouldKeepAlive && socket.destroyed && !socket.readableEnded) this.surplus.push(name);
    else this.idle.set(socket, { call: name, answeredAtByte: socket.bytesRead });
  }

  private reuse(socket: Socket): void {
    this.surplus.push(...this.surplusOf(socket));
    this.idle.delete(socket);
  }

  private surplusOf(socket: Socket): string[] {
    const latest = this.idle.get(socket);
    return latest && socket.bytesRead > latest.answeredAtByte ? [latest.call] : [];
  }
}
