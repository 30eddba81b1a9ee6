import { toNodeListener } from '@croupier/provider-sdk';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callbacks, type Running, type Settings } from './provider.js';

/** A provider on plain `node:http`. */
export async function startNodeHttp(settings: Settings): Promise<Running> {
  const server = createServer(toNodeListener(callbacks(settings)));
  server.listen(settings.port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
