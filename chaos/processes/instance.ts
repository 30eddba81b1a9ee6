import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Child, start } from './child.js';

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const RESOLVER = pathToFileURL(join(import.meta.dirname, 'resolver.preload.js')).href;
/** Additional time for a process to end on a busy machine, in milliseconds. */
const SLACK_MS = 5000;
export const SHUTDOWN_DELAY_MS = 3000;
/** Longest stop after SIGTERM, in milliseconds: the shutdown delay, 10 s (contract, section 10) and slack. */
const STOP_MS = SHUTDOWN_DELAY_MS + 10_000 + SLACK_MS;

export const clocksCanDiffer = existsSync(FAKETIME);

/** A stop by SIGTERM, in Unix milliseconds. */
export interface Stop {
  readonly signalledAt: number;
  /** When the process ended; undefined while it is stopping. */
  readonly endedAt: number | undefined;
}

/** An instance of the built service, which is restarted with the same number as often as needed. */
export class Instance {
  readonly log: string;
  /** Its latest stop. */
  stop: Stop | undefined;
  /** How often it did not end in time after SIGTERM. */
  overdue = 0;
  private child: Child | undefined;

  /** @param clockSeconds offset of its clock, if libfaketime is installed */
  constructor(
    readonly number: number,
    readonly port: number,
    private readonly environment: Readonly<Record<string, string>>,
    folder: string,
    readonly clockSeconds: number,
  ) {
    this.log = join(folder, `instance-${number}.log`);
  }

  get running(): boolean {
    return this.child?.running ?? false;
  }

  start(): void {
    const clock = {
      LD_PRELOAD: FAKETIME,
      FAKETIME: `${this.clockSeconds < 0 ? '' : '+'}${this.clockSeconds}s`,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    const env = {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(this.port),
      ...this.environment,
      ...(clocksCanDiffer && this.clockSeconds !== 0 && clock),
    };
    this.child = start(process.execPath, ['--import', RESOLVER, 'dist/main.js'], this.log, { env });
  }

  async kill(): Promise<void> {
    this.child?.process.kill('SIGKILL');
    await this.child?.ended();
  }

  suspend(): void {
    this.child?.process.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.process.kill('SIGCONT');
  }

  /** Sends SIGTERM, and kills the process if it does not end in time. */
  async terminate(): Promise<void> {
    const { child } = this;
    if (!child?.running) return;
    const signalledAt = Date.now();
    this.stop = { signalledAt, endedAt: undefined };
    child.process.kill('SIGTERM');
    const late = setTimeout(() => {
      if (!child.running) return;
      this.overdue += 1;
      child.process.kill('SIGKILL');
    }, STOP_MS);
    await child.ended();
    this.stop = { signalledAt, endedAt: Date.now() };
    clearTimeout(late);
  }

  /** The number of lines of its log that contain the text. */
  async logged(words: string): Promise<number> {
    return (await readFile(this.log, 'utf8')).split('\n').filter((line) => line.includes(words)).length;
  }
}
