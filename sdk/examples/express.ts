import { toExpressHandler } from '@croupier/provider-sdk';
import express from 'express';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { callbacks, type Running, type Settings } from './provider.js';

/** A provider on Express: the callbacks are registered before `express.json()`, which would discard the raw body. */
export async function startExpress(settings: Settings): Promise<Running> {
  const app = express();
  app.use('/rgs', toExpressHandler(callbacks(settings)));
  app.use(express.json());
  app.get('/', (_, response) => response.json({ game: 'on' }));

  const server = app.listen(settings.port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rgs`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
