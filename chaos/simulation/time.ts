import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

interface Event {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that jumps from one event to the next. Times are in milliseconds since its start. */
export class SimulatedTime {
  now = 0;
  /** The future events, the next one last. */
  private readonly events: Event[] = [];

  /** @returns a function that cancels it */
  after(milliseconds: number, run: () => void): () => void {
    const event = { at: this.now + milliseconds, run };
    let index = this.events.length;
    while (index > 0 && this.events[index - 1]!.at <= event.at) index -= 1;
    this.events.splice(index, 0, event);
    return () => {
      const found = this.events.indexOf(event);
      if (found >= 0) this.events.splice(found, 1);
    };
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** Runs the events in order, each with its immediate consequences, until `done` or until none is left. */
  async run(done: () => boolean): Promise<void> {
    govern(this);
    await untilIdle();
    while (!done()) {
      const event = this.events.pop();
      if (!event) return;
      this.now = event.at;
      event.run();
      await untilIdle();
    }
  }
}

let governing = new SimulatedTime();

function govern(time: SimulatedTime): void {
  governing = time;
}

/** Replaces `performance.now` and the `setTimeout` of `timers/promises` with simulated time while the work runs. */
export async function withSimulatedTime<T>(work: () => Promise<T>): Promise<T> {
  const { now } = performance;
  const { setTimeout } = timers;
  try {
    performance.now = () => governing.now;
    timers.setTimeout = ((milliseconds = 0) => governing.sleep(milliseconds)) as typeof setTimeout;
    syncBuiltinESMExports();
    return await work();
  } finally {
    performance.now = now;
    timers.setTimeout = setTimeout;
    syncBuiltinESMExports();
  }
}

/**
 * Resolves when all callbacks of settled promises have run, because Node runs `nextTick` callbacks only then. Waiting
 * for a turn of the event loop instead would cost a system call.
 */
function untilIdle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
