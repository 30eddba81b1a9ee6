import type { CaseResult, Outcome } from './outcome.js';

export interface Run {
  tenantId: string;
  webhookBaseUrl: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  results: readonly CaseResult[];
}

export type Counts = Record<Outcome['kind'], number>;

export function counts(results: readonly CaseResult[]): Counts {
  const sum: Counts = { passed: 0, failed: 0, blocked: 0, skipped: 0 };
  for (const { outcome } of results) sum[outcome.kind] += 1;
  return sum;
}

/** Every case was tried and passed: a case that was skipped proves nothing. */
export function isCertified(results: readonly CaseResult[]): boolean {
  return results.length > 0 && results.every(({ outcome }) => outcome.kind === 'passed');
}

export function jsonReport({ results, ...run }: Run): string {
  const cases = results.map(({ outcome: { kind, ...found }, ...about }) => ({
    ...about,
    outcome: kind,
    ...found,
  }));
  const report = { ...run, certified: isCertified(results), counts: counts(results), cases };
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** As CI servers read it: one suite for each group; a case that was blocked is a failure there. */
export function junitReport({ tenantId, startedAt, results }: Run): string {
  const groups = [...new Set(results.map(({ group }) => group))];
  const suites = groups.map((group) => {
    const cases = results.filter((result) => result.group === group);
    const head = `${totals(cases)} name="${group}" timestamp="${startedAt}" hostname="${xml(tenantId)}"`;
    return [`  <testsuite ${head}>`, ...cases.map(junitCase), '  </testsuite>'].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="croupier-provider certify" ${totals(results)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function totals(results: readonly CaseResult[]): string {
  const { failed, blocked, skipped } = counts(results);
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  return `tests="${results.length}" failures="${failed + blocked}" errors="0" skipped="${skipped}" time="${seconds}"`;
}

function junitCase({ id, title, group, outcome, durationMs }: CaseResult): string {
  const head = `    <testcase classname="certify.${group}" name="${xml(`${id}: ${title}`)}" time="${durationMs / 1000}"`;
  if (outcome.kind === 'passed') return `${head}/>`;
  if (outcome.kind === 'skipped') {
    return `${head}>\n      <skipped message="${xml(outcome.why)}"/>\n    </testcase>`;
  }
  const { kind, expected, received } = outcome;
  const message = `expected ${expected}, received ${received}`;
  return `${head}>\n      <failure type="${kind}" message="${xml(message)}"/>\n    </testcase>`;
}

/** Text for an attribute; what XML cannot hold at all becomes a replacement character. */
function xml(text: string): string {
  const escaped: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (sign) => escaped[sign] ?? sign)
    .replace(/[\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
