import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Scripted =
  | { status: number; body?: string | object; headers?: Record<string, string> }
  | 'drop'
  | 'hang'
  /** Headers and half a body, then nothing. */
  | 'stall'
  /** Headers and half a body, then the connection is lost. */
  | 'truncate'
  /** Bytes that are not HTTP. */
  | 'garbage';

/** A platform over real HTTP that gives the scripted answers in order. */
export async function startPlatform(...script: Scripted[]) {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      const next = script.shift();
      if (next === undefined) return void response.writeHead(418).end('nothing was scripted');
      if (next === 'hang') return;
      if (next === 'drop') return void request.socket.destroy();
      if (next === 'stall') return void response.writeHead(200, { 'Content-Length': 100 }).write('{"bal');
      if (next === 'garbage') return void request.socket.end('SSH-2.0-OpenSSH_9.2p1\r\n');
      if (next === 'truncate') {
        response.writeHead(200, { 'Content-Length': 100 });
        return void response.write('{"bal', () => request.socket.destroy());
      }
      const { status, body = '', headers } = next;
      response.writeHead(status, headers);
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** The number of connections that were accepted. */
    connections: () => connections,
    async stop(): Promise<void> {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
