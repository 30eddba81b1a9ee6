import { Injectable } from '@nestjs/common';
import { BackgroundLoop, type BackgroundLoopOptions } from './background-loop.js';

interface BackgroundWork extends BackgroundLoopOptions {
  /** What the work does, as docs/operations.md lists it. */
  readonly name: string;
  /** How long a stop waits for the work in progress, in milliseconds. */
  readonly stopMs: number;
  /**
   * Whether passes still begin while a shutdown waits for the last requests, because these requests give the work more
   * to do. Its owner then stops the loop.
   */
  readonly servesLastRequests?: true;
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
    const stopping = this.works.filter(({ work }) => !work.servesLastRequests);
    await Promise.all(stopping.map(({ work, loop }) => loop.stop(work.stopMs)));
  }
}
