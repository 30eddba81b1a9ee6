import type { CaseResult } from '../outcome.js';
import { type GradedLatency, graded } from './certificate.js';
import { counts, type Run } from './run.js';

/**
 * The report as JUnit XML for CI servers: one suite for each group; a blocked case is a failure.
 * @param digest the digest of the JSON report of the same run
 */
export function junitReport(run: Run, digest: string): string {
  const { certification, version, tenantId, address, startedAt, results } = run;
  const properties = Object.entries({ version, [address.name]: address.url, digest }).map(
    ([name, value]) => `      <property name="${name}" value="${xml(value)}"/>`,
  );
  const groups = [...new Set(results.map(({ group }) => group))];
  const suites = groups.map((group) => {
    const cases = results.filter((result) => result.group === group);
    const head = `${totals(cases)} name="${group}" timestamp="${startedAt}" hostname="${xml(tenantId)}"`;
    return [
      `  <testsuite ${head}>`,
      '    <properties>',
      ...properties,
      '    </properties>',
      ...cases.map(junitCase),
      '  </testsuite>',
    ].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="croupier-provider ${certification}" ${totals(results)}>`,
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
  if (outcome.kind === 'passed') {
    const latencies = (outcome.latencies ?? []).map(graded).map(latencyLine);
    const lines = outcome.note === undefined ? latencies : [...latencies, outcome.note];
    if (lines.length === 0) return `${head}/>`;
    return `${head}>\n      <system-out>${xml(lines.join('\n'))}</system-out>\n    </testcase>`;
  }
  if (outcome.kind === 'skipped') {
    return `${head}>\n      <skipped message="${xml(outcome.why)}"/>\n    </testcase>`;
  }
  const { kind, expected, received, hint } = outcome;
  const message = `expected ${expected}, received ${received}${hint === undefined ? '' : `. ${hint}`}`;
  return `${head}>\n      <failure type="${kind}" message="${xml(message)}"/>\n    </testcase>`;
}

function latencyLine({ call, count, p50Ms, p95Ms, p99Ms, maxMs, grade }: GradedLatency): string {
  return `${call}: ${count} calls, p50 ${p50Ms} ms, p95 ${p95Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms, class ${grade}`;
}

/** Escapes a text for an attribute; characters that XML does not allow become U+FFFD. */
function xml(text: string): string {
  const escaped: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (sign) => escaped[sign] ?? sign)
    .replace(/[\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
