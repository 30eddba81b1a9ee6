/** What a case found. `blocked`: something that other cases test failed first. */
export type Outcome =
  | { kind: 'passed' }
  | { kind: 'failed' | 'blocked'; expected: string; received: string }
  | { kind: 'skipped'; why: string };

/** Something was not as it has to be. */
export class Unmet extends Error {
  constructor(
    readonly expected: string,
    readonly received: string,
  ) {
    super(`expected ${expected}, received ${received}`);
  }
}

/** What a case starts from was not to be had; the cases about that tell why. */
export class Prerequisite extends Unmet {}

/** One promise of the contract, tried. */
export interface Case {
  id: string;
  /** As a sentence about the provider. */
  title: string;
  group: 'signature' | 'grant' | 'status' | 'cancel' | 'revoke' | 'transport';
  /** Whether a spin has to be played in it. */
  plays?: boolean;
}

export interface CaseResult extends Case {
  outcome: Outcome;
  durationMs: number;
}
