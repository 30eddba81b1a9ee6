/** What an instance has decided to do, by its name in the model. */
const PLANS: Readonly<Record<string, string>> = {
  BOOK: 'to let the wallet book it',
  CONCLUDE_APPROVED: 'to approve it by a verdict of its own',
  CONCLUDE_DECLINED: 'to decline it by a verdict of its own',
  REVERSE_NOTHING: 'to reverse a transaction that is not stored',
  REVERSE_TOMBSTONE: 'to reverse a transaction that has only a tombstone',
  REVERSE_BET: 'to reverse its BET',
  RETRY: 'to try it again',
  PARK: 'to park it',
};

export interface Trace {
  readonly steps: readonly string[];
  /** The invariant that the last step violates; undefined if the trace is a cycle in which nothing is decided. */
  readonly violated: string | undefined;
}

/**
 * Reads what the model prints along a trail, ignoring what spin itself prints: a line with `@` is a step, and one with
 * `@!` names the violated invariant. The steps after `<<<<<START OF CYCLE>>>>>` repeat for ever.
 */
export function traceIn(output: string): Trace {
  const steps: string[] = [];
  let violated: string | undefined;
  for (const line of output.split('\n')) {
    const text = line.trim();
    if (text.startsWith('@!')) violated = text.slice(2).trim();
    else if (text.startsWith('@')) steps.push(sentence(text.slice(1).trim()));
    else if (text.includes('START OF CYCLE')) steps.push('(The steps from here on repeat for ever.)');
  }
  return { steps, violated };
}

function sentence(step: string): string {
  return step.replace(/decides ([A-Z_]+)/, (whole, plan: string) => `decides ${PLANS[plan] ?? whole}`);
}
