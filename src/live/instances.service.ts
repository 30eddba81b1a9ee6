import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Readiness } from '../health/readiness.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { VERSION } from '../runtime/build.js';
import { Instance } from '../runtime/instance.js';
import { InstanceStore, type RunningInstance } from './instance.store.js';

const SEEN_EVERY_MS = 2_000;
/** How long a stop waits for a pass in progress, in milliseconds. It then removes the instance's row. */
const STOP_MS = 1_000;

/** The running instances of the service. Each stores every two seconds that it runs, until it stops. */
@Injectable()
export class Instances implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Instances');
  private readonly loop: BackgroundLoop;

  constructor(
    private readonly instance: Instance,
    private readonly readiness: Readiness,
    private readonly store: InstanceStore,
    background: Background,
  ) {
    this.loop = background.add({
      name: 'show that this instance runs',
      intervalMs: SEEN_EVERY_MS,
      firstAfterMs: 0,
      stopMs: STOP_MS,
      work: () => this.show(),
      onError: (detail) => this.logger.warn({ msg: 'the live view does not show this instance', detail }),
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop(STOP_MS);
    // Otherwise it would be shown for a few seconds more.
    await this.store.remove(this.instance.id).catch(() => undefined);
  }

  /** The oldest first. An instance that died is shown for 10 seconds more. */
  running(): Promise<RunningInstance[]> {
    return this.store.running();
  }

  private async show(): Promise<void> {
    const { id, startedAt } = this.instance;
    const ready = (await this.readiness.read()).status === 'ok';
    await this.store.seen({ id, version: VERSION, startedAt, ready });
  }
}
