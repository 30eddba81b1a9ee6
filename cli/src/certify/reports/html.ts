import type { CaseResult, Outcome } from '../outcome.js';
import { type GradedLatency, graded, sha256 } from './certificate.js';
import { counts, isCertified, optionsLine, type Run, verdict } from './run.js';

/** Finds the JSON report in the page. */
export const CERTIFICATE_PATTERN = /<pre id="certificate">([^<]*)<\/pre>/;
/** Finds the digest of the page, which covers every byte of the page but itself. */
export const PAGE_DIGEST_PATTERN = /<meta name="croupier-page-sha256" content="([0-9a-f]{64})">/;

export function withoutPageDigest(page: string): string {
  return page.replace(PAGE_DIGEST_PATTERN, pageDigest(''));
}

function pageDigest(digest: string): string {
  return `<meta name="croupier-page-sha256" content="${digest}">`;
}

/**
 * The certificate as a self-contained HTML page, without scripts, fonts or network access.
 * @param json the JSON report of the same run, which the page contains
 * @param digest the digest of the JSON report
 */
export function htmlCertificate(run: Run, json: string, digest: string): string {
  const page = pageOf(run, json, digest);
  return page.replace(pageDigest(''), pageDigest(sha256(page)));
}

function pageOf(run: Run, json: string, digest: string): string {
  const { subject, certification, version, tenantId, address, startedAt, options, results } = run;
  const { passed, failed, blocked, skipped } = counts(results);
  const facts: [string, string][] = [
    ['Tenant', tenantId],
    ['Address', address.url],
    ['Date', startedAt],
    ['Certification', `croupier-provider ${certification}, version ${version}`],
    ...(options ? [['Options', optionsLine(options)] satisfies [string, string]] : []),
    ['Cases', `${passed} passed, ${failed} failed, ${blocked} blocked, ${skipped} skipped`],
    ['Digest', `SHA-256 ${digest}`],
  ];
  const groups = [...new Set(results.map(({ group }) => group))];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
${pageDigest('')}
<title>${escape(`${subject}: ${tenantId}`)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escape(subject)}</h1>
<p class="verdict ${isCertified(run) ? 'passed' : 'failed'}">${escape(verdict(run) ?? 'A selection of cases: nothing is certified.')}</p>
<dl>
${facts.map(([term, text]) => `<dt>${term}</dt><dd>${escape(text)}</dd>`).join('\n')}
</dl>
${latencyTable(results)}${groups.map((group) => section(group, results)).join('\n')}
<p><code>croupier-provider verify-certificate</code> checks that this page is unchanged. The digest does not show who wrote it.</p>
<details>
<summary>The JSON report</summary>
<pre id="certificate">${escape(json)}</pre>
</details>
</body>
</html>
`;
}

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #1a1a1a; background: #fff }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2em 1.5em }
h2::first-letter { text-transform: uppercase } dt { font-weight: 600 } dd { margin: 0; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .25em .75em .25em 0; border-bottom: 1px solid #ddd }
td.number, th.number { text-align: right; white-space: nowrap } code, small { color: #555; overflow-wrap: anywhere } small { display: block }
pre { white-space: pre-wrap; overflow-wrap: anywhere } .rule { font-style: italic }
.verdict { font-size: 1.3em; font-weight: 600 } .passed { color: #0a6b2d } .failed { color: #a3121f } .blocked { color: #8a5a00 } .skipped { color: #666 }
`;

function section(group: string, results: readonly CaseResult[]): string {
  const rows = results.filter((result) => result.group === group).map(row);
  return `<h2>${escape(group)}</h2>\n<table>\n${rows.join('\n')}\n</table>`;
}

function row({ id, title, rule, outcome, durationMs }: CaseResult): string {
  const held = `<small class="rule">${escape(rule)}</small>`;
  const found = linesOf(outcome)
    .map((line) => `<small>${escape(line)}</small>`)
    .join('');
  return (
    `<tr><td class="${outcome.kind}">${outcome.kind}</td><td>${escape(title)}${held}${found}</td>` +
    `<td><code>${escape(id)}</code></td><td class="number">${durationMs} ms</td></tr>`
  );
}

function linesOf(outcome: Outcome): string[] {
  switch (outcome.kind) {
    case 'passed':
      return outcome.note === undefined ? [] : [outcome.note];
    case 'skipped':
      return [outcome.why];
    default: {
      const found = [`expected ${outcome.expected}`, `received ${outcome.received}`];
      return outcome.hint === undefined ? found : [...found, outcome.hint];
    }
  }
}

const CLASSES =
  'Class A: p95 of at most 40 ms. Class B: at most 60 ms. Class C: more. The classes hold for loads below 1,000 calls a second.';

function latencyTable(results: readonly CaseResult[]): string {
  const latencies = results.flatMap(({ outcome }) =>
    outcome.kind === 'passed' ? (outcome.latencies ?? []).map(graded) : [],
  );
  if (latencies.length === 0) return '';
  const columns = ['p50', 'p95', 'p99', 'max'];
  const heads = columns.map((name) => `<th class="number">${name}</th>`).join('');
  const line = ({ call, count, p50Ms, p95Ms, p99Ms, maxMs, grade }: GradedLatency) => {
    const figures = [p50Ms, p95Ms, p99Ms, maxMs].map((ms) => `<td class="number">${ms} ms</td>`).join('');
    return `<tr><td>${escape(call)}</td><td class="number">${count}</td>${figures}<td>${grade}</td></tr>`;
  };
  return `<h2>Latency</h2>\n<table>\n<tr><th>Call</th><th class="number">Calls</th>${heads}<th>Class</th></tr>\n${latencies.map(line).join('\n')}\n</table>\n<p>${CLASSES}</p>\n`;
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const SIGNS = new Map(Object.entries(ESCAPES).map(([sign, entity]) => [entity, sign]));

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
}

/** Reads a text that the page has escaped. */
export function unescape(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => SIGNS.get(entity) ?? entity);
}
