/** Undecided transactions: how many, and the time since the oldest one was first claimed. */
export interface Undecided {
  readonly count: number;
  readonly oldestSeconds: number;
}

/**
 * Combines counts by tenant, in one pass: with many tenants, there are many more counts.
 * @param tenantOf the id of the operator or provider of a count
 * @returns only tenants that have a count
 */
export function perTenant<Count extends Undecided>(
  counts: readonly Count[],
  tenantOf: (count: Count) => string,
): ReadonlyMap<string, Undecided> {
  const tenants = new Map<string, Undecided>();
  for (const each of counts) {
    const id = tenantOf(each);
    const { count, oldestSeconds } = tenants.get(id) ?? { count: 0, oldestSeconds: 0 };
    tenants.set(id, {
      count: count + each.count,
      oldestSeconds: Math.max(oldestSeconds, each.oldestSeconds),
    });
  }
  return tenants;
}
