/**
 * `npm run bench:scale`: BETs on 1, 2 and 4 instances behind the nginx that ships in ops/, with one PostgreSQL and one
 * Redis, in slices that alternate. Needs `nginx` and `redis-server`. All share the machine, so on few cores it shows
 * what another instance costs, and on many where PostgreSQL becomes the limit.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from './command-line.js';
import { type Contestant, freePort, start } from './contestants.js';
import { Load, percentile, Stock } from './load.js';
import { tidy } from './postgres.js';
import { aligned, milliseconds, whole } from './report.js';
import { bet } from './requests.js';
import { withSurroundings } from './surroundings.js';
import { usageOf, usedBetween } from './usage.js';
import { GAME_ID, PROVIDER_ID, SESSIONS } from './world.js';

const USAGE = `usage: npm run bench:scale -- [options]

  --instances 1,2,4   numbers of instances; the ratios are those to the first
  --connections 64
  --rounds 4`;

const options = readOptions(USAGE, {
  instances: { type: 'string', default: '1,2,4' },
  connections: { type: 'string', default: '64' },
  rounds: { type: 'string', default: '4' },
});
const sizes = options.instances.split(',').map(Number);
const connections = Number(options.connections);
const WARM_UP_SECONDS = 3;
const LEAD_IN_SECONDS = 0.3;
const SLICE_SECONDS = 2;
/** Upper bound of the BETs that the instances can settle per second, for which requests are prepared. */
const BETS_PER_SECOND = 8_000;
const NGINX_CONF = join(import.meta.dirname, '../../../ops/nginx/nginx.conf');

interface Server {
  readonly port: number;
  readonly child: ChildProcess;
}

/** A number of instances behind an nginx. */
interface Fleet {
  readonly instances: readonly Contestant[];
  readonly nginx: Server;
}

interface Slice {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of CPU time per BET. */
  readonly server: number;
  readonly postgres: number;
  readonly nginx: number;
  readonly redis: number;
}

/** Starts a program that listens on the port. */
async function launch(program: string, parameters: readonly string[], port: number): Promise<Server> {
  const child = spawn(program, parameters, { stdio: 'ignore' });
  await Promise.race([
    listening(port),
    once(child, 'error').then(([error]) => {
      throw new Error(`${program} is needed: ${(error as Error).message}`);
    }),
    once(child, 'exit').then(() => {
      throw new Error(`${program} ended while it started`);
    }),
  ]);
  return { port, child };
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const load = await Load.open(port, 1).catch(() => undefined);
    if (load) return load.close();
    await sleep(50);
  }
  throw new Error(`nothing listens on port ${port}`);
}

async function stop({ child }: Server): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const launchRedis = async (): Promise<Server> => {
  const port = await freePort();
  return launch('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], port);
};

/** Starts the nginx of ops/ before the instances, without its limits for a client: all load comes from one address. */
async function launchNginx(instances: readonly Contestant[], folder: string): Promise<Server> {
  const port = await freePort();
  const name = join(folder, `nginx-${instances.length}`);
  const servers = instances.map((each) => `server 127.0.0.1:${each.port} max_fails=0;`).join('\n    ');
  const shipped = await readFile(NGINX_CONF, 'utf8');
  const conf = shipped
    .replace('server croupier-1:3000 max_fails=0;', servers)
    .replace('server croupier-2:3000 max_fails=0;', '')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('/tmp/nginx.pid', `${name}.pid`)
    .replace('rate=1000r/s', 'rate=1000000r/s')
    .replace('limit_conn connections 1000', 'limit_conn connections 65535');
  await writeFile(`${name}.conf`, conf);
  return launch('nginx', ['-c', `${name}.conf`, '-e', `${name}.log`, '-g', 'daemon off;'], port);
}

let slices = 0;

async function measure(
  { instances, nginx }: Fleet,
  redis: Server,
  postgresPid: number,
  seconds: number,
): Promise<Slice> {
  const prefix = `s${(slices += 1)}`;
  const caller = { providerId: PROVIDER_ID, gameId: GAME_ID, secret: instances[0]!.providerSecret };
  const count = Math.ceil(BETS_PER_SECOND * (LEAD_IN_SECONDS + seconds));
  const stock = new Stock(
    Array.from({ length: count }, (_, n) => bet(caller, n % SESSIONS, `${prefix}-${n}`)),
  );
  const load = await Load.open(nginx.port, connections);
  const usages = () => {
    const pids = [postgresPid, nginx.child.pid!, redis.child.pid!, ...instances.map(({ pid }) => pid)];
    return Promise.all(pids.map(usageOf));
  };
  try {
    await load.closed(stock, LEAD_IN_SECONDS);
    const before = await usages();
    const { latencies, seconds: took } = await load.closed(stock, seconds);
    const after = await usages();
    const used = after.map((usage, index) => usedBetween(before[index]!, usage) / latencies.length / 1000);
    const [postgres = NaN, proxy = NaN, nonces = NaN, ...servers] = used;
    return {
      perSecond: latencies.length / took,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      server: servers.reduce((sum, each) => sum + each, 0),
      postgres,
      nginx: proxy,
      redis: nonces,
    };
  } finally {
    load.close();
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

await withSurroundings('scale', async ({ postgres, surroundings }) => {
  const redis = await launchRedis();
  const environment = { REDIS_URL: `redis://127.0.0.1:${redis.port}`, TRUST_PROXY: '127.0.0.1' };
  const instances: Contestant[] = [];
  const proxies: Server[] = [];
  try {
    while (instances.length < Math.max(...sizes)) {
      const label = `instance_${instances.length + 1}`;
      instances.push(await start('service', { ...surroundings, environment, label }, instances[0]));
    }
    const fleets: Fleet[] = [];
    for (const size of sizes) {
      const some = instances.slice(0, size);
      const nginx = await launchNginx(some, surroundings.folder);
      proxies.push(nginx);
      fleets.push({ instances: some, nginx });
    }
    for (const fleet of fleets) await measure(fleet, redis, postgres.pid, WARM_UP_SECONDS);
    await tidy(instances[0]!.database);
    const measured = fleets.map((): Slice[] => []);
    for (let round = 0; round < Number(options.rounds); round += 1) {
      const order = [...fleets.keys()];
      for (const index of [...order, ...order.toReversed()]) {
        measured[index]!.push(await measure(fleets[index]!, redis, postgres.pid, SLICE_SECONDS));
      }
    }
    const rows = measured.map((own, index) => {
      const of = (figure: keyof Slice) => median(own.map((slice) => slice[figure]));
      const ratio = median(own.map(({ perSecond }, slice) => perSecond / measured[0]![slice]!.perSecond));
      const cpu = (['server', 'postgres', 'nginx', 'redis'] as const).map((figure) => whole(of(figure)));
      const times = [of('p50'), of('p99')].map(milliseconds);
      return [String(sizes[index]), whole(of('perSecond')), `${ratio.toFixed(2)}×`, ...times, ...cpu];
    });
    const headings = ['BET/s', 'ratio', 'p50 ms', 'p99 ms'];
    const cpuHeadings = ['instances µs', 'PostgreSQL µs', 'nginx µs', 'Redis µs'];
    console.log(
      `\nBETs over ${connections} connections, Node ${process.version}, ${cpus().length} cores for all\n`,
    );
    console.log(aligned([['instances', ...headings, ...cpuHeadings], ...rows], 1));
  } finally {
    for (const each of proxies) await stop(each);
    for (const each of instances) await each.stop();
    await stop(redis);
  }
});
