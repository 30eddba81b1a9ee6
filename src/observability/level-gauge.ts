import { Gauge, type Registry } from 'prom-client';
import type { BoundedTenants, TenantLabels } from './tenant-labels.js';

/** One value of a gauge. */
export interface Level extends TenantLabels {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A gauge whose values are read each time the metrics are read. */
export interface LevelGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** If it rejects, the gauge has no value, and the other metrics are still served. */
  readonly read: () => Promise<readonly Level[]>;
  /** Combines values with the same labels, such as those of several tenants in `other`; by default their sum. */
  readonly combine?: (left: number, right: number) => number;
}

const add = (left: number, right: number) => left + right;

export function registerLevel(
  registry: Registry,
  tenants: BoundedTenants,
  { name, help, labelNames = [], read, combine = add }: LevelGauge,
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const levels = await read().catch((): readonly Level[] => []);
      this.reset();
      // prom-client sets a gauge without labels to 0, but an unknown value is not 0.
      if (labelNames.length === 0 && levels.length === 0) this.set(NaN);
      for (const { labels, value } of combined(levels, tenants, combine)) this.set(labels, value);
    },
  });
}

function combined(
  levels: readonly Level[],
  tenants: BoundedTenants,
  combine: NonNullable<LevelGauge['combine']>,
) {
  const byLabels = new Map<string, { labels: Record<string, string>; value: number }>();
  for (const level of levels) {
    const labels = { ...tenants.labels(level), ...level.labels };
    const key = JSON.stringify(labels);
    const earlier = byLabels.get(key);
    byLabels.set(key, { labels, value: earlier ? combine(earlier.value, level.value) : level.value });
  }
  return byLabels.values();
}
