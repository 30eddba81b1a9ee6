import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { Background } from '../../src/runtime/background.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { useWorld } from '../world/world.js';
import { complaintsAbout, documentedMetrics, type OfferedMetric, offeredMetrics } from './metrics.js';
import { installed } from './installed.js';

const PROMETHEUS = 'ops/prometheus';
const DASHBOARDS = 'ops/grafana/dashboards';
const run = promisify(execFile);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url?: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const { groups } = load(readFileSync(`${PROMETHEUS}/alerts.yaml`, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboards = readdirSync(DASHBOARDS).map(
  (file) => JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) as Dashboard,
);

let offered: Map<string, OfferedMetric>;
const world = useWorld();
beforeAll(async () => {
  offered = offeredMetrics(world);
});

describe('metrics', () => {
  test('are exactly those that docs/operations.md describes, with their types', () => {
    const { names, families } = documentedMetrics();
    const own = [...offered].filter(([name]) => !families.some((family) => name.startsWith(family)));
    expect(Object.fromEntries(names)).toEqual(
      Object.fromEntries(own.map(([name, { type }]) => [name, type])),
    );
    for (const family of families) expect([...offered.keys()].join(' ')).toContain(family);
  });

  test('are named by the rules of Prometheus: counters end with _total, units are base units', () => {
    for (const [name, { type }] of offered) {
      if (!name.startsWith('croupier_nodejs_'))
        expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|millis|milliseconds|minutes|kilobytes)(_|$)/);
    }
  });
});

test('the background work is that of docs/operations.md, with its intervals', () => {
  const [, section = ''] = readFileSync('docs/operations.md', 'utf8').split('\n## Background work\n');
  const documented = section.split('\n## ', 1)[0]!.matchAll(/^\| (\w.*?) +\| ([\d.]+ s) +\|/gm);
  const running = world.app.get(Background).list();
  // A failure shows rows that the document lacks with -, and rows without running work with +.
  expect([...documented].map(([, work, interval]) => `| ${work} | ${interval} |`).sort()).toEqual(
    running.map(({ name, intervalMs }) => `| ${name} | ${intervalMs / 1000} s |`).sort(),
  );
});

describe('alerts', () => {
  test.each(rules)('$alert queries existing metrics', ({ expr }) => {
    expect(complaintsAbout(expr, offered)).toEqual([]);
  });

  test('have a severity, a section in docs/operations.md and a unit test', () => {
    const sections = readFileSync('docs/operations.md', 'utf8').match(/^### Croupier\w+$/gm) ?? [];
    expect(sections.map((line) => line.slice('### '.length)).sort()).toEqual(
      rules.map(({ alert }) => alert).sort(),
    );
    const unitTests = readFileSync(`${PROMETHEUS}/alerts.test.yaml`, 'utf8');
    for (const { alert, labels } of rules) {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(unitTests, alert).toMatch(new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:`));
    }
  });

  test.each(rules)('$alert has a runbook that exists', ({ alert, annotations }) => {
    const [, path = '', anchor] = /^\{\{ \$externalLabels\.runbooks \}\}([^#]+)#(.+)$/.exec(
      annotations.runbook_url ?? '',
    )!;
    const headings = Array.from(
      readFileSync(path, 'utf8').matchAll(/^#+ (\w+)$/gm),
      ([, heading]) => heading!,
    );
    expect(headings.map((heading) => heading.toLowerCase())).toContain(anchor);
    expect(anchor).toBe(alert.toLowerCase());
  });

  test.skipIf(!installed('promtool'))('pass the check and the unit tests of promtool', async () => {
    await run('promtool', ['check', 'rules', `${PROMETHEUS}/alerts.yaml`]);
    await run('promtool', ['check', 'config', `${PROMETHEUS}/prometheus.yaml`]);
    await run('promtool', ['test', 'rules', `${PROMETHEUS}/alerts.test.yaml`]);
  });
});

describe.each(dashboards)('the dashboard $title', ({ uid, schemaVersion, panels, templating }) => {
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  test('queries existing metrics', () => {
    expect(queries.flatMap((expr) => complaintsAbout(expr, offered))).toEqual([]);
    for (const { query } of templating.list) expect(complaintsAbout(query, offered)).toEqual([]);
  });

  test('has panels with unique ids and places, and a data source', () => {
    expect(uid).toMatch(/^croupier-[a-z]+$/);
    expect(schemaVersion).toBeGreaterThanOrEqual(36);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { title, type, gridPos, datasource, targets = [] } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken, title).not.toContain(`${x}/${y}`);
          taken.add(`${x}/${y}`);
        }
      }
      if (type === 'row') continue;
      expect(datasource, title).toEqual({ type: 'prometheus', uid: '${datasource}' });
      expect(targets.length, title).toBeGreaterThan(0);
    }
  });

  test('uses the variables that it declares', () => {
    const declared = new Set(templating.list.map(({ name }) => name));
    const used = queries.join(' ').matchAll(/\$(\w+)/g);
    for (const [, name] of used) if (name !== '__rate_interval') expect(declared).toContain(name);
  });

  test.skipIf(!installed('promtool'))('has queries that Prometheus parses', async () => {
    const folder = await temporaryFolder();
    const file = join(folder.path, 'rules.yaml');
    const parsed = queries.map((expr, index) => ({
      record: `query_${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, 'value'),
    }));
    await writeFile(file, JSON.stringify({ groups: [{ name: 'queries', rules: parsed }] }));
    await run('promtool', ['check', 'rules', file]).finally(() => folder.remove());
  });
});
