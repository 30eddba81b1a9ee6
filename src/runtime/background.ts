import { Injectable } from '@nestjs/common';
import { BackgroundLoop, type BackgroundLoopOptions } from './background-loop.js';

interface BackgroundWork extends BackgroundLoopOptions {
  /** What the work does, as docs/operations.md lists it. */
  readonly name: string;
  /** How long a stop waits for the work in progress, in milliseconds. */
  readonly stopMs: number;
  /**
   * When a shutdown runs a last pass of work to which requests add: after the last request, or after the other last
   * passes, whose results it needs. Until then, passes begin as usual.
   */
  readonly lastPass?: 'after-requests' | 'after-others';
}

/** The background work of this instance. Rooms add theirs when they are constructed; the application starts and stops it. */
@Injectable()
export class Background {
  private readonly works: { readonly work: BackgroundWork; readonly loop: BackgroundLoop }[] = [];

  add(work: BackgroundWork): BackgroundLoop {
    const loop = new BackgroundLoop(work);
    this.works.push({ work, loop });
    return loop;
  }

  list(): { name: string; intervalMs: number }[] {
    return this.works.map(({ work: { name, intervalMs } }) => ({ name, intervalMs }));
  }

  start(): void {
    for (const { loop } of this.works) loop.start();
  }

  /** Begins no further pass, and waits for the work in progress. A second call waits for the first one. */
  async stop(): Promise<void> {
    const stopping = this.works.filter(({ work }) => !work.lastPass);
    await Promise.all(stopping.map(({ work, loop }) => loop.stop(work.stopMs)));
  }

  /** Runs the last passes, once the last request has ended. */
  async finish(): Promise<void> {
    for (const when of ['after-requests', 'after-others'] as const) {
      const finishing = this.works.filter(({ work }) => work.lastPass === when);
      await Promise.all(finishing.map(({ work, loop }) => loop.finish(work.stopMs)));
    }
  }
}
