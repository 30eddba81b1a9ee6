import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import type { Certificate } from './certificate.js';
import { freePort } from './postgres-server.js';

/** Whether Redis is installed. */
export const HAS_REDIS = (() => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** The name under which Sentinel knows the master. */
export const MASTER = 'mymaster';

const tlsOptions = (port: number, { authority, certificate, key }: Certificate) => [
  '--tls-port',
  String(port),
  '--tls-auth-clients',
  'no',
  '--tls-ca-cert-file',
  authority,
  '--tls-cert-file',
  certificate,
  '--tls-key-file',
  key,
];

interface ClusterOptions {
  readonly replicas?: number;
  readonly certificate?: Certificate;
}

/** A Redis, or a Sentinel, of a test's own. */
export class RedisServer {
  private running: ChildProcess | undefined;

  private constructor(
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    readonly port: number,
    private readonly options: readonly string[],
    /** The port for TLS, if it was created with a certificate. */
    readonly tlsPort?: number,
  ) {}

  /** @param master whose replica it is */
  static async create(master?: RedisServer): Promise<RedisServer> {
    const [folder, port] = [await temporaryFolder(), await freePort()];
    const persistence = ['--save', '', '--appendonly', 'no', '--dir', folder.path];
    const replication = master
      ? ['--replicaof', `127.0.0.1 ${master.port}`]
      : ['--repl-diskless-sync-delay', '0'];
    const options = ['--port', String(port), '--bind', '127.0.0.1', ...persistence, ...replication];
    const server = new RedisServer(folder, port, options);
    await server.start();
    if (master) await until(async () => (await server.info()).includes('master_link_status:up'));
    return server;
  }

  /** One that also listens for TLS. */
  static async withCertificate(certificate: Certificate): Promise<RedisServer> {
    const [folder, port, tlsPort] = [await temporaryFolder(), await freePort(), await freePort()];
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder.path];
    const server = new RedisServer(folder, port, [...options, ...tlsOptions(tlsPort, certificate)], tlsPort);
    await server.start();
    return server;
  }

  /**
   * A cluster of three masters, each with the given number of replicas, masters first. Without replicas it serves no key
   * while a master is unavailable.
   * @param certificate with one, its nodes use TLS among each other, and tell clients their ports for TLS
   */
  static async cluster({ replicas = 0, certificate }: ClusterOptions = {}): Promise<RedisServer[]> {
    const nodes: RedisServer[] = [];
    for (let index = 0; index < 3 * (1 + replicas); index += 1) {
      const [folder, port, busPort] = [await temporaryFolder(), await freePort(), await freePort()];
      const options = ['--port', String(port), '--cluster-port', String(busPort), '--bind', '127.0.0.1'];
      const persistence = ['--save', '', '--appendonly', 'no', '--dir', folder.path];
      const membership = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
      const tlsPort = certificate && (await freePort());
      const tls = certificate && tlsPort ? ['--tls-cluster', 'yes', ...tlsOptions(tlsPort, certificate)] : [];
      const all = [...options, ...persistence, ...membership, ...tls];
      const node = new RedisServer(folder, port, all, tlsPort);
      await node.start();
      nodes.push(node);
    }
    const addresses = nodes.map(({ port, tlsPort }) => `127.0.0.1:${tlsPort ?? port}`);
    const tls = certificate ? ['--tls', '--cacert', certificate.authority] : [];
    const options = ['--cluster-replicas', String(replicas), '--cluster-yes', ...tls];
    execFileSync('redis-cli', ['--cluster', 'create', ...addresses, ...options], { stdio: 'ignore' });
    await until(async () => {
      const states = await Promise.all(nodes.map((node) => node.clusterState()));
      return states.every((state) => state.includes('cluster_state:ok'));
    });
    await until(async () => {
      const states = await Promise.all(nodes.slice(3).map((replica) => replica.info()));
      return states.every((state) => state.includes('master_link_status:up'));
    });
    return nodes;
  }

  /** A single Sentinel, which decides on a fail-over. */
  static async watch(master: RedisServer): Promise<RedisServer> {
    const [folder, port] = [await temporaryFolder(), await freePort()];
    const file = join(folder.path, 'sentinel.conf');
    writeFileSync(
      file,
      `port ${port}
bind 127.0.0.1
dir ${folder.path}
sentinel monitor ${MASTER} 127.0.0.1 ${master.port} 1
sentinel down-after-milliseconds ${MASTER} 500
sentinel failover-timeout ${MASTER} 3000
`,
    );
    const sentinel = new RedisServer(folder, port, [file, '--sentinel']);
    await sentinel.start();
    await until(async () => (await sentinel.info()).includes('slaves=1'));
    return sentinel;
  }

  /** Starts it, empty, and waits until it answers. */
  async start(): Promise<void> {
    this.running = spawn('redis-server', this.options, { stdio: 'ignore' });
    await until(() =>
      this.info().then(
        () => true,
        () => false,
      ),
    );
  }

  async kill(): Promise<void> {
    if (!this.running) return;
    const exited = once(this.running, 'exit');
    this.running.kill('SIGKILL');
    await exited;
    this.running = undefined;
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }

  /** Whether it has the key in the database with this index. */
  async has(key: string, index: number): Promise<boolean> {
    return this.with(async (client) => {
      await client.select(index);
      return (await client.exists(key)) === 1;
    });
  }

  /** How many keys it has. */
  keyCount(): Promise<number> {
    return this.with((client) => client.dbsize());
  }

  /** Changes a parameter of the running server. */
  async configure(parameter: string, value: string): Promise<void> {
    await this.with((client) => client.config('SET', parameter, value));
  }

  private clusterState(): Promise<string> {
    return this.with((client) => client.cluster('INFO'));
  }

  private info(): Promise<string> {
    return this.with((client) => client.info());
  }

  private async with<T>(work: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      client.disconnect();
    }
  }
}
