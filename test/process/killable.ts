import { once } from 'node:events';
import { afterEach } from 'vitest';
import { until } from '../world/patience.js';
import { ADMIN_KEY, type World } from '../world/world.js';
import { launch, type Launched, ownPort } from './launch.js';

/** The built service as another instance of a world, to be killed. */
class Killable {
  private readonly port = ownPort();
  private running: Launched | undefined;

  constructor(
    private readonly shared: World,
    private readonly environment: Record<string, string>,
  ) {}

  /** The world that it shares with the other instances, called at this one. */
  get world(): World {
    return Object.create(this.shared, { url: { value: `http://127.0.0.1:${this.port}` } }) as World;
  }

  async start(): Promise<void> {
    const running = launch({
      ADMIN_API_KEY: ADMIN_KEY,
      SECRETS_KEY: Buffer.alloc(32, 'test').toString('base64'),
      DATABASE_URL: this.shared.databaseUrl,
      HOST: '127.0.0.1',
      PORT: String(this.port),
      OUTBOUND_ALLOW_PRIVATE: 'true',
      ...this.environment,
    });
    this.running = running;
    await until(async () => {
      if (running.process.exitCode !== null) throw new Error(running.lines.join('\n'));
      return (await this.world.request('/health/ready').catch(() => undefined))?.status === 200;
    });
  }

  async kill(): Promise<void> {
    const process = this.running?.process;
    if (process?.kill('SIGKILL')) await once(process, 'exit');
  }
}

/** An instance that the tests start, and that is killed at the latest after each of them. */
export function useKillable(world: World, environment: Record<string, string> = {}): Killable {
  const instance = new Killable(world, environment);
  afterEach(() => instance.kill());
  return instance;
}
