import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type Child, freePort, start, until } from './child.js';
import type { Address } from './link.js';
import { connect } from 'node:net';

export function redisBinary(): string | undefined {
  try {
    return execFileSync('which', ['redis-server']).toString().trim();
  } catch {
    return undefined;
  }
}

/** A Redis that loses nothing when it is killed. */
export class Redis {
  private child: Child | undefined;

  private constructor(
    private readonly binary: string,
    private readonly folder: string,
    readonly address: Address,
  ) {}

  static async start(binary: string, folder: string): Promise<Redis> {
    const redis = new Redis(binary, folder, { host: '127.0.0.1', port: await freePort() });
    await redis.launch();
    return redis;
  }

  get version(): string {
    return execFileSync(this.binary, ['--version']).toString().trim();
  }

  async launch(): Promise<void> {
    const { port } = this.address;
    const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', this.folder, ...durable];
    this.child = start(this.binary, args, join(this.folder, 'redis.log'));
    await until('Redis has started', 20, () => answers(port));
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.child?.process.kill('SIGCONT');
    this.child?.process.kill(signal);
    await this.child?.ended();
  }

  /** Suspends it, so that it does not answer until it is resumed. */
  suspend(): void {
    this.child?.process.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.process.kill('SIGCONT');
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.on('error', () => resolve(false));
    socket.on('data', (answer) => {
      socket.destroy();
      resolve(answer.toString().startsWith('+PONG'));
    });
  });
}
