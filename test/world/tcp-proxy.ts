import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Connection {
  readonly client: Socket;
  readonly server: Socket;
}

/** Stands between an instance and a server that a URL names. */
export abstract class TcpProxy {
  protected readonly connections = new Set<Connection>();
  private readonly listener = createServer((client) => this.accept(client));
  private port = 0;
  private withholding = false;

  protected constructor(protected target: URL) {}

  /** The server's address through this proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Accepts connections, after a stop at the same address. */
  async listen(): Promise<this> {
    this.listener.listen(this.port, '127.0.0.1');
    await once(this.listener, 'listening');
    this.port = (this.listener.address() as AddressInfo).port;
    return this;
  }

  /** Closes all connections and refuses new ones. */
  async stop(): Promise<void> {
    const closed = once(this.listener, 'close');
    this.listener.close();
    for (const { client } of this.connections) client.destroy();
    await closed;
  }

  /** Withholds the answers of the server until `release`, also on new connections. All connections stay open. */
  withhold(): void {
    this.withholding = true;
    for (const { server } of this.connections) server.pause();
  }

  release(): void {
    this.withholding = false;
    for (const { server } of this.connections) server.resume();
  }

  /** Passes on what arrives at either end. */
  protected abstract relay(connection: Connection): void;

  private accept(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    const connection = { client, server };
    this.connections.add(connection);
    client.on('error', () => undefined).on('close', () => server.destroy());
    server.on('error', () => undefined).on('close', () => client.destroy());
    client.once('close', () => this.connections.delete(connection));
    this.relay(connection);
    if (this.withholding) server.pause();
  }
}
