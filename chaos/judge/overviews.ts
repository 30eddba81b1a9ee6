import type { Overview } from '../load/readers.js';

/** What an overview must show. */
export interface Stored {
  /** The ids of all operators and providers. */
  readonly operators: readonly string[];
  readonly providers: readonly string[];
  /** The undecided transactions of each pair of an operator and a provider that has some. */
  readonly undecided: readonly { operatorId: string; providerId: string; count: number; parked: number }[];
  /** The number of OPEN items of each kind that has some. */
  readonly attention: Readonly<Record<string, number>>;
  readonly approvalsWaiting: number;
  /** The number of running instances. */
  readonly instances: number;
}

/**
 * Finds where an overview differs from the database.
 * @param stored states of the database while the overview was made, at least one: each number must lie within them
 */
export function judgeOverview(overview: Overview, stored: readonly Stored[]): string[] {
  const differences: string[] = [];
  const compare = (what: string, shown: number, correctIn: (state: Stored) => number) => {
    const correct = stored.map(correctIn);
    const [least, most] = [Math.min(...correct), Math.max(...correct)];
    if (shown >= least && shown <= most) return;
    differences.push(`${what}: ${shown} instead of ${least === most ? least : `${least} to ${most}`}`);
  };
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const compareTenants = (list: 'operators' | 'providers', ownId: 'operatorId' | 'providerId') => {
    const shown = new Map(overview[list].map(({ id, undecided }) => [id, undecided]));
    const existing = new Set(stored.flatMap((state) => state[list]));
    for (const id of existing) if (!shown.has(id)) differences.push(`nothing of ${id}`);
    for (const [id, undecided] of shown) {
      if (!existing.has(id)) differences.push(`${id}, which does not exist`);
      const ownIn = (state: Stored) => state.undecided.filter((pair) => pair[ownId] === id);
      compare(`undecided of ${id}`, undecided, (state) => sum(ownIn(state).map(({ count }) => count)));
    }
  };
  compareTenants('operators', 'operatorId');
  compareTenants('providers', 'providerId');
  compare('parked', overview.parked, ({ undecided }) => sum(undecided.map(({ parked }) => parked)));
  compare('approvals that wait', overview.approvalsWaiting, ({ approvalsWaiting }) => approvalsWaiting);
  const kinds = [overview.attention, ...stored.map(({ attention }) => attention)].flatMap(Object.keys);
  for (const kind of new Set(kinds)) {
    compare(
      `items of the kind ${kind}`,
      overview.attention[kind] ?? 0,
      ({ attention }) => attention[kind] ?? 0,
    );
  }
  const ready = overview.instances.filter((instance) => instance.ready).length;
  compare('ready instances', ready, ({ instances }) => instances);
  compare('instances', overview.instances.length, ({ instances }) => instances);
  return differences;
}
