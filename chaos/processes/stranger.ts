import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Address } from './link.js';

const PAGE = '<!doctype html><title>This domain is for sale</title>';

/** A web server to which a misleading name leads. It answers every call with a page, and with 200 or 404 in turn. */
export class Stranger {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<Stranger> {
    let calls = 0;
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead((calls += 1) % 2 === 0 ? 404 : 200, { 'Content-Type': 'text/html' }).end(PAGE);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Stranger(server);
  }

  get address(): Address {
    return { host: '127.0.0.1', port: (this.server.address() as AddressInfo).port };
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
