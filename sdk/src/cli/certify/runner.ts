import { Caller, type ProviderUnderTest } from './caller.js';
import { FREE_SPINS_CASES } from './free-spins-cases.js';
import { type CaseResult, type Outcome, Prerequisite, Unmet } from './outcome.js';
import { SESSION_CASES, TRANSPORT_CASES } from './session-cases.js';
import { type RunnableCase, SIGNATURE_CASES } from './signature-cases.js';

export const CASES: readonly RunnableCase[] = [
  ...SIGNATURE_CASES,
  ...FREE_SPINS_CASES,
  ...SESSION_CASES,
  ...TRANSPORT_CASES,
];

/** After so many cases in a row without any answer nobody is there: the rest would only take its time. */
const MAX_CASES_WITHOUT_ANSWER = 3;

/**
 * Tries the cases one after the other.
 * @param told of each result, as soon as it is there
 * @param nowMs Unix time in milliseconds
 */
export async function runCases(
  cases: readonly RunnableCase[],
  provider: ProviderUnderTest,
  told: (result: CaseResult) => void,
  nowMs: () => number,
): Promise<CaseResult[]> {
  const caller = new Caller(provider, nowMs);
  const results: CaseResult[] = [];
  let unanswered = 0;
  for (const { run, ...about } of cases) {
    const [began, answered] = [nowMs(), caller.answered];
    const isThere = unanswered < MAX_CASES_WITHOUT_ANSWER;
    const outcome = isThere ? await outcomeOf({ run, ...about }, caller) : NOBODY;
    unanswered = caller.answered === answered && outcome.kind !== 'skipped' ? unanswered + 1 : 0;
    const result = { ...about, outcome, durationMs: Math.round(nowMs() - began) };
    results.push(result);
    told(result);
  }
  return results;
}

const NOBODY: Outcome = { kind: 'blocked', expected: 'a provider that answers', received: 'none' };

async function outcomeOf(each: RunnableCase, caller: Caller): Promise<Outcome> {
  if (each.plays && caller.provider.playPath === undefined) {
    return { kind: 'skipped', why: 'a spin has to be played: name a path for that with --play-path' };
  }
  try {
    await each.run(caller);
    return { kind: 'passed' };
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    const kind = error instanceof Prerequisite ? 'blocked' : 'failed';
    return { kind, expected: error.expected, received: error.received };
  }
}
