import { readFileSync } from 'node:fs';
import { Metrics } from '../../src/observability/metrics.js';
import type { World } from '../world/world.js';

export interface OfferedMetric {
  readonly type: string;
  readonly labels: readonly string[];
}

/** The metrics of a service by name, including those without a value. */
export function offeredMetrics(world: World): Map<string, OfferedMetric> {
  const { registry } = world.app.get(Metrics);
  // prom-client does not type what every metric has: its type and the names of its labels.
  const metrics = registry.getMetricsAsArray() as unknown as {
    name: string;
    type: string;
    labelNames: string[];
  }[];
  return new Map(metrics.map(({ name, type, labelNames }) => [name, { type, labels: labelNames }]));
}

/** A series that a query selects, and the labels that it names in its selector. */
interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

function selectorsIn(expression: string): Selector[] {
  return Array.from(
    expression.matchAll(/\b(croupier_[a-z0-9_]+)(?:\{([^}]*)\})?/g),
    ([, name, matchers]) => ({
      name: name!,
      labels: Array.from((matchers ?? '').matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g), ([, label]) => label!),
    }),
  );
}

/** Labels that Prometheus adds when it scrapes. */
const SCRAPED = ['instance', 'job'];

/** The errors of a query: an unknown metric, or a label that the metric does not have. */
export function complaintsAbout(expression: string, offered: ReadonlyMap<string, OfferedMetric>): string[] {
  return selectorsIn(expression).flatMap(({ name, labels }) => {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    const histogram = offered.get(base)?.type === 'histogram' ? offered.get(base) : undefined;
    const metric = base === name ? offered.get(name) : (histogram ?? offered.get(name));
    if (!metric) return [`${name} is not offered`];
    if (metric.type === 'histogram' && base === name)
      return [`${name} is a histogram: it has no series of this name`];
    const known = [...metric.labels, ...SCRAPED, 'le'];
    return labels.filter((label) => !known.includes(label)).map((label) => `${name} has no label ${label}`);
  });
}

/** Rows of the tables of docs/operations.md: metric name to type. Families end with `*` and have no type. */
export function documentedMetrics(): { names: Map<string, string>; families: string[] } {
  const text = readFileSync('docs/operations.md', 'utf8');
  const rows = text.matchAll(/^\|\s*((?:`croupier_[^`]+`(?:, )?)+)\s*\|\s*(\w*)\s*\|/gm);
  const names = new Map<string, string>();
  const families: string[] = [];
  for (const [, cell = '', type = ''] of rows) {
    for (const [, name = ''] of cell.matchAll(/`([^`]+)`/g)) {
      if (name.endsWith('*')) families.push(name.slice(0, -1));
      else names.set(name, type);
    }
  }
  return { names, families };
}
