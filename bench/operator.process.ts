import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Testimony, Watch } from './operator.js';

/** The process of the operator's wallet. */
export class Operator {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<Operator> {
    const child = fork(join(import.meta.dirname, 'operator.js'));
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new Operator(child, `http://127.0.0.1:${port}`);
  }

  /**
   * Starts or stops checking each booking.
   * @returns the results since the last call
   */
  async watch(watch: Watch | null): Promise<Testimony> {
    const message = once(this.child, 'message');
    this.child.send({ watch });
    const [{ testimony }] = (await message) as [{ testimony: Testimony }];
    return testimony;
  }

  stop(): void {
    this.child.disconnect();
  }
}
