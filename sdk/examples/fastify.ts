import { toFastifyPlugin } from '@croupier/provider-sdk';
import { fastify } from 'fastify';
import { callbacks, type Running, type Settings } from './provider.js';

/** A provider on Fastify. The plugin keeps bodies as the bytes received; other routes parse bodies as usual. */
export async function startFastify(settings: Settings): Promise<Running> {
  const app = fastify();
  await app.register(toFastifyPlugin(callbacks(settings)), { prefix: '/rgs' });
  app.post('/echo', (request) => request.body);

  const address = await app.listen({ port: settings.port, host: '127.0.0.1' });
  return { url: `${address}/rgs`, stop: () => app.close() };
}
