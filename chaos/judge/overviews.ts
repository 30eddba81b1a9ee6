import type { Overview } from '../load/readers.js';

/** What an overview must show. */
export interface Stored {
  /** The undecided transactions of each pair of an operator and a provider that has some. */
  readonly undecided: readonly { operatorId: string; providerId: string; count: number; parked: number }[];
  /** The number of OPEN items of each kind that has some. */
  readonly attention: Readonly<Record<string, number>>;
  readonly approvalsWaiting: number;
  /** The number of running instances. */
  readonly instances: number;
}

/** Finds where an overview differs from the database. */
export function judgeOverview(overview: Overview, stored: Stored): string[] {
  const differences: string[] = [];
  const compare = (what: string, shown: number, correct: number) => {
    if (shown !== correct) differences.push(`${what}: ${shown} instead of ${correct}`);
  };
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const { undecided } = stored;
  for (const { id, undecided: shown } of overview.operators) {
    const own = undecided.filter(({ operatorId }) => operatorId === id);
    compare(`undecided of ${id}`, shown, sum(own.map(({ count }) => count)));
  }
  for (const { id, undecided: shown } of overview.providers) {
    const own = undecided.filter(({ providerId }) => providerId === id);
    compare(`undecided of ${id}`, shown, sum(own.map(({ count }) => count)));
  }
  compare('parked', overview.parked, sum(undecided.map(({ parked }) => parked)));
  compare('approvals that wait', overview.approvalsWaiting, stored.approvalsWaiting);
  for (const kind of new Set([...Object.keys(overview.attention), ...Object.keys(stored.attention)])) {
    compare(`items of the kind ${kind}`, overview.attention[kind] ?? 0, stored.attention[kind] ?? 0);
  }
  compare('ready instances', overview.instances.filter(({ ready }) => ready).length, stored.instances);
  compare('instances', overview.instances.length, stored.instances);
  return differences;
}
