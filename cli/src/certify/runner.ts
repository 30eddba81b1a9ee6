import { visibleText } from '@croupier/provider-sdk';
import { type Case, type CaseResult, type Latency, type Outcome, Prerequisite, Unmet } from './outcome.js';

/** After this many consecutive cases without any answer, the remaining cases are blocked. */
const MAX_CASES_WITHOUT_ANSWER = 3;

const NO_ANSWERS = { expected: 'a server that answers', received: 'no answers' };

/** The part of a certification's subject that the runner needs. */
export interface Answering {
  /** The number of calls answered so far. */
  readonly answered: number;
  /** What a blocked case says if that number stays the same. Default: that the server does not answer. */
  readonly noAnswers?: { readonly expected: string; readonly received: string };
}

/**
 * Runs the cases in order.
 * @param report called with each result as soon as it is known
 * @param nowMs Unix time in milliseconds
 */
export async function runCases<Subject extends Answering>(
  cases: readonly Case<Subject>[],
  subject: Subject,
  report: (result: CaseResult) => void,
  nowMs: () => number,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const blocked: Outcome = { kind: 'blocked', ...(subject.noAnswers ?? NO_ANSWERS) };
  let unanswered = 0;
  for (const each of cases) {
    const [began, answered] = [nowMs(), subject.answered];
    const outcome = unanswered < MAX_CASES_WITHOUT_ANSWER ? await outcomeOf(each, subject) : blocked;
    unanswered = subject.answered === answered && outcome.kind !== 'skipped' ? unanswered + 1 : 0;
    const { id, title, group, rule } = each;
    const durationMs = Math.round(nowMs() - began);
    const result = { id, title, group, rule, outcome, durationMs };
    results.push(result);
    report(result);
  }
  return results;
}

async function outcomeOf<Subject>(each: Case<Subject>, subject: Subject): Promise<Outcome> {
  const why = each.skipped?.(subject);
  if (why !== undefined) return { kind: 'skipped', why };
  const latencies: Latency[] = [];
  let note: string | undefined;
  try {
    await each.run(
      subject,
      (latency) => latencies.push(latency),
      (text) => (note = text),
    );
    return {
      kind: 'passed',
      ...(latencies.length > 0 && { latencies }),
      ...(note !== undefined && { note }),
    };
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    // All reports take these texts, which quote the answers of the server under test.
    const [expected, received] = [visibleText(error.expected), visibleText(error.received)];
    const hint = error.hint === undefined ? undefined : visibleText(error.hint);
    const kind = error instanceof Prerequisite ? 'blocked' : 'failed';
    return { kind, expected, received, ...(hint !== undefined && { hint }) };
  }
}
