import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** The bytes to write to the connection, and what happens to it then. */
export interface WireAnswer {
  readonly bytes: string | Buffer;
  readonly then: 'end' | 'reset' | 'hang' | { readonly dripEveryMs: number };
}

/** A provider that writes bytes, for answers that no HTTP server would give. */
export class WireProvider {
  /** The received request lines, in order. */
  readonly requests: string[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => this.serve(socket));
  private answer: WireAnswer | undefined;

  static async start(): Promise<WireProvider> {
    const provider = new WireProvider();
    provider.server.listen(0, '127.0.0.1');
    await once(provider.server, 'listening');
    return provider;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets the answer to every call from now on; undefined stands for a valid one. */
  answerWith(answer: WireAnswer | undefined): void {
    this.answer = answer;
  }

  async stop(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.server, 'close');
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (head < 0 || received.length < head + 4 + length) return;
      this.requests.push(received.slice(0, received.indexOf('\r\n')));
      received = '';
      this.reply(
        socket,
        this.answer ?? http('200 OK', '{"externalRef":"wire","remainingSpins":1,"completed":false}'),
      );
    });
  }

  private reply(socket: Socket, { bytes, then }: WireAnswer): void {
    if (typeof then === 'object') {
      let sent = 0;
      const content = Buffer.from(bytes);
      const timer = setInterval(() => socket.write(content.subarray(sent, (sent += 1))), then.dripEveryMs);
      socket.on('close', () => clearInterval(timer));
      return;
    }
    socket.write(bytes, () => {
      if (then === 'end') socket.end();
      if (then === 'reset') socket.resetAndDestroy();
    });
  }
}

/** A whole HTTP answer. */
export function http(status: string, body: string | Buffer, headers = ''): WireAnswer {
  const content = Buffer.from(body);
  const head = `HTTP/1.1 ${status}\r\nContent-Length: ${content.length}\r\n${headers}\r\n`;
  return { bytes: Buffer.concat([Buffer.from(head), content]), then: 'end' };
}
