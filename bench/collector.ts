import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A collector of traces that reads what it receives and stores nothing. */
export class Collector {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<Collector> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200).end());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new Collector(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
