/** The latencies of one kind of call, in milliseconds. */
export interface Latency {
  call: string;
  count: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** The result of a case. `blocked`: the server gave no answers, or a prerequisite failed that other cases test. */
export type Outcome =
  | { kind: 'passed'; latencies?: Latency[]; note?: string }
  | { kind: 'failed' | 'blocked'; expected: string; received: string; hint?: string }
  | { kind: 'skipped'; why: string };

/** A case's expectation was not met. */
export class Unmet extends Error {
  /** @param hint what to check, if the cause can be guessed */
  constructor(
    readonly expected: string,
    readonly received: string,
    readonly hint?: string,
  ) {
    super(`expected ${expected}, received ${received}`);
  }
}

/** A prerequisite of a case failed. The cases that test the prerequisite itself explain why. */
export class Prerequisite extends Unmet {}

/**
 * One rule of the contract as a test.
 * @typeParam Subject makes the calls and counts the answers
 */
export interface Case<Subject> {
  /** Unique in its certification; lower case with hyphens. */
  id: string;
  /** A sentence without its subject: "refuses a body that was changed". */
  title: string;
  group: string;
  /** The sentence of the contract that this case holds, verbatim. */
  readonly rule: string;
  /** Why the case cannot run with these options; undefined if it can. */
  skipped?: (subject: Subject) => string | undefined;
  /**
   * @param measured receives the latencies for the report
   * @param noted receives what the report says although the case passed
   * @throws Unmet if the rule is not followed
   */
  run: (
    subject: Subject,
    measured: (latency: Latency) => void,
    noted: (note: string) => void,
  ) => Promise<void>;
}

export interface CaseResult {
  id: string;
  title: string;
  group: string;
  rule: string;
  outcome: Outcome;
  durationMs: number;
}
