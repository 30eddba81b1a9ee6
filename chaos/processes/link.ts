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
  /** When the latest cut was, or the latest refusal or stall ended, in Unix milliseconds. */
  private disturbedAt = 0;
  /** The clients' ports of connections that did not reach the target. */
  private readonly unreached = new Set<number>();

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

  /** Whether there was a fault after this time, in Unix milliseconds. */
  wasFaulty(since: number): boolean {
    return this.faulty || this.disturbedAt >= since;
  }

  /** Whether the latest connection from this port of the client reached the target. */
  reached(clientPort: number): boolean {
    return !this.unreached.has(clientPort);
  }

  /** The number of connections that wait for an answer. */
  get awaiting(): number {
    return [...this.connections].filter(({ awaiting }) => awaiting).length;
  }

  /** Resets every connection. */
  cut(): void {
    this.disturbedAt = Date.now();
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
    return () => {
      if (this.refusals.delete(hold)) this.disturbedAt = Date.now();
    };
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
      if (!this.stalls.delete(hold)) return;
      this.disturbedAt = Date.now();
      if (!this.stalled) this.resume();
    };
  }

  /** Ends every refusal and every stall. */
  heal(): void {
    if (this.faulty) this.disturbedAt = Date.now();
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
    const clientPort = near.remotePort ?? 0;
    near.on('error', () => undefined);
    this.unreached.delete(clientPort);
    if (!target) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: target.host, port: target.port, noDelay: true });
    let reached = false;
    far.once('connect', () => {
      reached = true;
      this.relayed += 1;
    });
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
    far.on('error', () => {
      if (!reached) this.unreached.add(clientPort);
      near.resetAndDestroy();
    });
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
