import { startExpress } from './express.js';
import { startFastify } from './fastify.js';
import { startNest } from './nest.js';
import { startNodeHttp } from './node-http.js';

const EXAMPLES = {
  'node-http': startNodeHttp,
  express: startExpress,
  fastify: startFastify,
  nest: startNest,
};

const [name = '', port = '4000'] = process.argv.slice(2);
const secret = process.env['CROUPIER_SECRET'];
const tenantId = process.env['CROUPIER_TENANT'] ?? 'my-provider';
const start = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name as keyof typeof EXAMPLES] : undefined;
if (start && secret) {
  const { url } = await start({ tenantId, secret, port: Number(port) });
  console.log(`${tenantId} listens on ${url}`);
} else {
  console.error(
    `Usage: CROUPIER_SECRET=… npm run example -w sdk -- ${Object.keys(EXAMPLES).join('|')} [port]`,
  );
  process.exitCode = 2;
}
