import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { atMostEvery } from './at-most-every.js';
import type { BoundedTenants, TenantLabels } from './tenant-labels.js';

/** How long a scrape waits for one gauge, in milliseconds: Prometheus drops a scrape that takes longer than 10 s. */
const READ_LIMIT_MS = 3_000;

interface GaugeValue extends TenantLabels {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A gauge whose values are determined each time the metrics are read. */
export interface PolledGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /**
   * If `read` rejects or takes longer than three seconds, the gauge has no value, and the other metrics are still served.
   * A scrape during a read shares it.
   */
  readonly read: () => Promise<readonly GaugeValue[]>;
  /** Combines values with the same labels, such as those of several tenants in `other`; by default their sum. */
  readonly combine?: (left: number, right: number) => number;
}

const add = (left: number, right: number) => left + right;

export function registerGauge(
  registry: Registry,
  tenants: BoundedTenants,
  { name, help, labelNames = [], read, combine = add }: PolledGauge,
): void {
  const shared = atMostEvery(0, read);
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const values = await Promise.race([shared(), noValue()]).catch((): readonly GaugeValue[] => []);
      this.reset();
      // prom-client sets a gauge without labels to 0, but an unknown value is not 0.
      if (labelNames.length === 0 && values.length === 0) this.set(NaN);
      for (const { labels, value } of combined(values, tenants, combine)) this.set(labels, value);
    },
  });
}

function noValue(): Promise<readonly GaugeValue[]> {
  return sleep(READ_LIMIT_MS, [], { ref: false });
}

function combined(
  values: readonly GaugeValue[],
  tenants: BoundedTenants,
  combine: NonNullable<PolledGauge['combine']>,
) {
  const byLabels = new Map<string, { labels: Record<string, string>; value: number }>();
  for (const { value, labels: ownLabels, ...tenant } of values) {
    const labels = { ...tenants.labels(tenant), ...ownLabels };
    const key = JSON.stringify(labels);
    const earlier = byLabels.get(key);
    byLabels.set(key, { labels, value: earlier ? combine(earlier.value, value) : value });
  }
  return byLabels.values();
}
