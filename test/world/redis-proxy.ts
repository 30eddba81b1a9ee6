import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between an instance and Redis: records what is sent, and can withhold the answers. */
export class RedisProxy {
  /** Everything that was sent towards Redis, in its protocol. */
  sent = '';
  private port = 0;
  private readonly connections = new Set<{ client: Socket; redis: Socket }>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (client) => this.relay(client));
  }

  static async start(redisUrl: string): Promise<RedisProxy> {
    const proxy = new RedisProxy(createServer(), new URL(redisUrl));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The address of Redis through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  /** Withholds the answers of Redis until `release`. */
  withhold(): void {
    for (const { redis } of this.connections) redis.pause();
  }

  release(): void {
    for (const { redis } of this.connections) redis.resume();
  }

  /** Closes all connections and refuses new ones until `restore`. */
  async cut(): Promise<void> {
    this.port = (this.server.address() as AddressInfo).port;
    await this.stop();
  }

  async restore(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const { client } of this.connections) client.destroy();
    await closed;
  }

  private relay(client: Socket): void {
    const redis = connect(Number(this.target.port || 6379), this.target.hostname);
    const connection = { client, redis };
    this.connections.add(connection);
    client.on('data', (commands) => {
      this.sent += commands.toString();
      redis.write(commands);
    });
    redis.on('data', (answers) => client.write(answers));
    client.on('error', () => undefined).on('close', () => redis.destroy());
    redis.on('error', () => undefined).on('close', () => client.destroy());
    client.once('close', () => this.connections.delete(connection));
  }
}
