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

/**
 * A TCP proxy between two parties whose connections can be cut, refused and stalled. Faults may overlap: each one that
 * lasts has a hold of its own, and the link refuses or stalls until the last hold has ended.
 */
export class Link {
  private readonly connections = new Set<Connection>();
  /** The number of connections that reached the target. */
  relayed = 0;
  private readonly refusals = new Set<symbol>();
  private readonly stalls = new Set<symbol>();

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
    return this.refusals.size + this.stalls.size > 0;
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

  /**
   * Resets every connection and each new one.
   * @returns ends this refusal, but no other one
   */
  refuse(): () => void {
    const hold = Symbol('refusal');
    this.refusals.add(hold);
    this.cut();
    return () => void this.refusals.delete(hold);
  }

  /**
   * Holds back all data in both directions.
   * @returns ends this stall, but no other one
   */
  stall(): () => void {
    const hold = Symbol('stall');
    this.stalls.add(hold);
    for (const { near, far } of this.connections) {
      near.pause();
      far.pause();
    }
    return () => {
      if (this.stalls.delete(hold) && !this.stalled) this.resume();
    };
  }

  /** Ends every refusal and every stall. */
  heal(): void {
    this.refusals.clear();
    this.stalls.clear();
    this.resume();
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  private get stalled(): boolean {
    return this.stalls.size > 0;
  }

  private resume(): void {
    for (const { near, far } of this.connections) {
      near.resume();
      far.resume();
    }
  }

  private relay(near: Socket): void {
    const target = this.refusals.size > 0 ? undefined : this.target();
    near.on('error', () => undefined);
    if (!target) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: target.host, port: target.port, noDelay: true });
    far.once('connect', () => (this.relayed += 1));
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
