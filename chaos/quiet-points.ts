import type { Faults } from './faults.js';
import { judgeLatestOverviews } from './judge/latest-overviews.js';
import type { Readers } from './load/readers.js';
import type { Rounds } from './load/rounds.js';
import type { World } from './world.js';

/** Longest time until the faults under way have ended, in milliseconds: a fail-over, and a restart of each instance. */
const FAULTS_MS = 120_000;
/** Longest time until the rounds under way have ended, in milliseconds. */
const ROUNDS_MS = 20_000;

interface Paused {
  readonly world: World;
  readonly faults: Faults;
  readonly rounds: Rounds;
  readonly readers: Readers;
}

/** Pauses the load and the faults at the planned times, and compares the overviews with the database. */
export class QuietPoints {
  readonly violations: string[] = [];
  compared = 0;
  /** The length of all pauses, in milliseconds. */
  pausedMs = 0;

  constructor(
    private readonly atMs: readonly number[],
    private readonly paused: Paused,
  ) {}

  /** @param elapsedMs since the start of the load, without the pauses */
  async pauseIfDue(elapsedMs: number): Promise<void> {
    const due = this.atMs[this.compared];
    if (due === undefined || elapsedMs < due) return;
    const began = performance.now();
    await this.compare();
    this.compared += 1;
    this.pausedMs += performance.now() - began;
  }

  private async compare(): Promise<void> {
    const { world, faults, rounds, readers } = this.paused;
    await faults.pause(FAULTS_MS);
    await rounds.pause(ROUNDS_MS);
    const when = `at quiet point ${this.compared + 1}`;
    try {
      await faults.recover();
      const differences = await judgeLatestOverviews(world, readers);
      this.violations.push(...differences.map((difference) => `${when}, ${difference}`));
    } catch (error) {
      this.violations.push(`${when}, the overviews could not be compared: ${(error as Error).message}`);
    } finally {
      rounds.goOn();
      faults.goOn();
    }
  }
}
