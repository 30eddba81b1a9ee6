import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface Address {
  readonly host: string;
  readonly port: number;
}

interface Connection {
  readonly near: Socket;
  readonly far: Socket;
  /** Whether a request was sent that is not answered yet. */
  awaiting: boolean;
}

/** A TCP proxy between two parties whose connections can be cut, refused and stalled. */
export class Link {
  private readonly connections = new Set<Connection>();
  /** The number of connections that were relayed. */
  relayed = 0;
  private refusing = false;
  private stalled = false;

  private constructor(
    readonly name: string,
    private readonly server: Server,
    private readonly target: () => Address | undefined,
  ) {
    server.on('connection', (near) => this.relay(near));
  }

  /**
   * @param target the destination of a new connection; undefined if it is refused
   * @param listens the address at which it listens; without one, a free port
   */
  static async open(
    name: string,
    target: () => Address | undefined,
    listens: Address = { host: '127.0.0.1', port: 0 },
  ): Promise<Link> {
    const link = new Link(name, createServer({ noDelay: true }), target);
    link.server.listen(listens.port, listens.host);
    await once(link.server, 'listening');
    return link;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Whether connections are refused or stalled. */
  get faulty(): boolean {
    return this.refusing || this.stalled;
  }

  /** The number of connections that wait for an answer. */
  get awaiting(): number {
    return [...this.connections].filter(({ awaiting }) => awaiting).length;
  }

  /** Resets every connection. */
  cut(): void {
    for (const { near, far } of this.connections) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** Resets every connection and each new one, until it is healed. */
  refuse(): void {
    this.refusing = true;
    this.cut();
  }

  /** Holds back all data in both directions, until it is healed. */
  stall(): void {
    this.stalled = true;
    for (const { near, far } of this.connections) {
      near.pause();
      far.pause();
    }
  }

  heal(): void {
    this.refusing = false;
    this.stalled = false;
    for (const { near, far } of this.connections) {
      near.resume();
      far.resume();
    }
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  private relay(near: Socket): void {
    const target = this.refusing ? undefined : this.target();
    near.on('error', () => undefined);
    if (!target) {
      near.resetAndDestroy();
      return;
    }
    this.relayed += 1;
    const far = connect({ host: target.host, port: target.port, noDelay: true });
    const connection: Connection = { near, far, awaiting: false };
    this.connections.add(connection);
    near.on('data', (sent) => {
      connection.awaiting = true;
      if (!far.write(sent)) near.pause();
    });
    far.on('data', (answer) => {
      connection.awaiting = false;
      if (!near.write(answer)) far.pause();
    });
    near.on('drain', () => this.stalled || far.resume());
    far.on('drain', () => this.stalled || near.resume());
    near.on('end', () => far.end());
    far.on('end', () => near.end());
    far.on('error', () => near.resetAndDestroy());
    near.on('close', () => far.destroy());
    far.on('close', () => {
      this.connections.delete(connection);
      near.destroy();
    });
    if (this.stalled) {
      near.pause();
      far.pause();
    }
  }
}
