/** The latencies of one kind of call, in milliseconds. */
export interface Latency {
  call: string;
  count: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** The result of a case. `blocked`: a step that the case starts with failed, and other cases test that step. */
export type Outcome =
  | { kind: 'passed'; latencies?: Latency[] }
  | { kind: 'failed' | 'blocked'; expected: string; received: string; hint?: string }
  | { kind: 'skipped'; why: string };

/** An expectation of a case that was not met. */
export class Unmet extends Error {
  /** @param hint what to check, where the cause can be guessed */
  constructor(
    readonly expected: string,
    readonly received: string,
    readonly hint?: string,
  ) {
    super(`expected ${expected}, received ${received}`);
  }
}

/** A step that the case starts with failed; the cases that test that step explain it. */
export class Prerequisite extends Unmet {}

/** One promise of the contract as a test. @typeParam Subject makes the calls and counts the answers */
export interface Case<Subject> {
  /** Unique in its certification; lower case with hyphens. */
  id: string;
  /** A sentence about the subject, without its subject: "refuses a body that was changed". */
  title: string;
  group: string;
  /** Why the case cannot run with these options; undefined where it can. */
  skipped?: (subject: Subject) => string | undefined;
  /**
   * @param measured takes the latencies that the report shows
   * @throws Unmet where the promise is not kept
   */
  run: (subject: Subject, measured: (latency: Latency) => void) => Promise<void>;
}

export interface CaseResult {
  id: string;
  title: string;
  group: string;
  outcome: Outcome;
  durationMs: number;
}
