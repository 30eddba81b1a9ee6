import { PlatformClient } from '../sandbox/platform-client.js';
import type { SandboxFile } from '../sandbox/sandbox-file.js';
import type { FaultSteps } from './fault-steps.js';
import { type Expectation, type RoundOutput, TranscriptClient } from './transcript-client.js';

const SPINS = 3;
const BET_MINOR = 100;

interface Player {
  readonly playerRef: string;
  readonly gameId: string;
  readonly currency: string;
}

/** Triggers the faults of the sandbox's provider in grants of free spins. */
export class GrantFaults {
  private readonly platform: TranscriptClient;
  private grants = 0;
  /** That of the latest grant. */
  private requestRef = '';

  constructor(
    private readonly sandbox: SandboxFile,
    output: RoundOutput,
    private readonly player: Player,
    private readonly steps: FaultSteps,
  ) {
    this.platform = new TranscriptClient(new PlatformClient(sandbox.apiUrl), output);
  }

  async refusesGrant(): Promise<void> {
    await this.steps.setProviderRule({ fault: 'refuse', on: 'grant' });
    await this.failGrant('A grant that the provider refuses');
    this.steps.explain(
      'A grant callback is sent once and never repeated automatically. The grant is FAILED with its cause on record; a',
      'person decides whether to resend it.',
    );
    const { requestRef } = this;
    const resend = {
      title: 'Resent by the operator',
      path: `/v1/operator/free-spins/${requestRef}/resend`,
      body: {},
    };
    await this.platform.play(this.sandbox.operator, resend, {
      status: 200,
      fields: { requestRef, state: 'GRANTED' },
    });
  }

  async repeatsReference(): Promise<void> {
    await this.steps.setProviderRule({ fault: 'same-external-ref', on: 'grant' });
    const expected = { status: 201, fields: { state: 'GRANTED', duplicateOf: this.requestRef } };
    await this.grant('A grant that is answered with the externalRef of the previous one', expected);
    this.steps.explain(
      'Both grants name the same spins, so a WIN counts in the first only: the second is its duplicate, and a person is',
      'asked to clarify what the provider has granted.',
    );
  }

  async grantsWithoutReference(): Promise<void> {
    await this.steps.setProviderRule({ fault: 'no-external-ref', on: 'grant' });
    await this.failGrant('A grant that is answered without an externalRef');
    this.steps.explain(
      'A 200 without an externalRef is a failure: without it the spins could be neither cancelled nor queried.',
    );
  }

  private failGrant(title: string): Promise<void> {
    return this.grant(title, { status: 502, fields: {}, code: 'PROVIDER_FAILED' });
  }

  private async grant(title: string, expected: Expectation): Promise<void> {
    this.grants += 1;
    this.requestRef = `${this.player.playerRef}-grant-${this.grants}`;
    const { requestRef } = this;
    const body = { requestRef, ...this.player, spins: SPINS, betAmountMinor: BET_MINOR };
    await this.platform.play(
      this.sandbox.operator,
      { title, path: '/v1/operator/free-spins', body },
      expected,
    );
  }
}
