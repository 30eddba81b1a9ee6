import type { CaseResult } from '../outcome.js';
import { counts, type Run } from './run.js';

/** The report as JUnit XML for CI servers: one suite for each group; a blocked case is a failure. */
export function junitReport({ certification, tenantId, startedAt, results }: Run): string {
  const groups = [...new Set(results.map(({ group }) => group))];
  const suites = groups.map((group) => {
    const cases = results.filter((result) => result.group === group);
    const head = `${totals(cases)} name="${group}" timestamp="${startedAt}" hostname="${xml(tenantId)}"`;
    return [`  <testsuite ${head}>`, ...cases.map(junitCase), '  </testsuite>'].join('\n');
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
  if (outcome.kind === 'passed') return `${head}/>`;
  if (outcome.kind === 'skipped') {
    return `${head}>\n      <skipped message="${xml(outcome.why)}"/>\n    </testcase>`;
  }
  const { kind, expected, received, hint } = outcome;
  const message = `expected ${expected}, received ${received}${hint === undefined ? '' : `. ${hint}`}`;
  return `${head}>\n      <failure type="${kind}" message="${xml(message)}"/>\n    </testcase>`;
}

/** Escapes a text for an attribute; characters that XML does not allow become U+FFFD. */
function xml(text: string): string {
  const escaped: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (sign) => escaped[sign] ?? sign)
    .replace(/[\t\n\r]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
