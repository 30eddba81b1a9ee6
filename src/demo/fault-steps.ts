import { FAULTS_PATH } from '../sandbox/faults/fault-pages.js';
import { type FaultName, FAULTS } from '../sandbox/faults/faults.js';
import { PlatformClient } from '../sandbox/platform-client.js';
import type { SandboxFile } from '../sandbox/sandbox-file.js';
import { type RoundOutput, TranscriptClient } from './transcript-client.js';

/** Makes one call of the operation `on` misbehave: the call with number `nth`, by default the first. */
export interface Rule {
  fault: FaultName;
  on: string;
  nth?: number;
  times?: number;
}

/** The steps that a round with faults repeats, with the counterparts' misbehaviour limited to one player. */
export class FaultSteps {
  constructor(
    private readonly sandbox: SandboxFile,
    private readonly output: RoundOutput,
    private readonly playerRef: string,
  ) {}

  setWalletRule(rule: Rule): Promise<void> {
    return this.setRule('wallet', this.sandbox.walletUrl, rule);
  }

  setProviderRule(rule: Rule): Promise<void> {
    return this.setRule('provider', this.sandbox.providerUrl, rule);
  }

  explain(...lines: string[]): void {
    this.output.print(`\n${lines.map((line) => `  → ${line}`).join('\n')}`);
  }

  /** Removes all rules of both counterparts. */
  async clear(): Promise<void> {
    for (const url of [this.sandbox.walletUrl, this.sandbox.providerUrl]) {
      await new PlatformClient(new URL(url).origin).plain('DELETE', FAULTS_PATH);
    }
  }

  private async setRule(who: string, url: string, rule: Rule): Promise<void> {
    const { origin } = new URL(url);
    const counterpart = new TranscriptClient(new PlatformClient(origin), this.output);
    const title = `The ${who} is asked to misbehave: ${FAULTS[rule.fault].does}`;
    await counterpart.configure(title, FAULTS_PATH, {
      rules: [{ ...rule, playerRefPrefix: this.playerRef }],
    });
  }
}
