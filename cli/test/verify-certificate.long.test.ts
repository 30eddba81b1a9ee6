import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { digestOf, runOf } from '../src/certify/reports/certificate.js';
import { gradeOf } from '../src/certify/reports/grade.js';
import { htmlCertificate } from '../src/certify/reports/html.js';
import { jsonReport } from '../src/certify/reports/json.js';
import { only, reportFolder } from './support/certified.js';
import { command } from './support/command.js';
import { ReferenceProvider, refused, SECRET, TENANT } from './support/reference-provider.js';

/** The reports of a run with a passed, a failed and a skipped case, and with latencies. */
let reports: { json: string; html: string; junit: string };

beforeAll(async () => {
  const provider = await ReferenceProvider.start({ grantedAgain: () => refused(409, 'a <grant> & "more"') });
  const folder = await temporaryFolder();
  const file = (name: string) => join(folder.path, name);
  await command(
    ['certify', '--webhook-base-url', provider.url, '--tenant', TENANT, '--calls', '20'].concat(
      ['--json', file('json'), '--html', file('html'), '--junit', file('junit')],
      only('signed-call', 'grant-repeated', 'status-after-spin', 'latency'),
    ),
    { secret: SECRET },
  );
  const [json = '', html = '', junit = ''] = await Promise.all(
    ['json', 'html', 'junit'].map((name) => readFile(file(name), 'utf8')),
  );
  reports = { json, html, junit };
  await Promise.all([provider.stop(), folder.remove()]);
});

async function verified(content: string | Buffer) {
  const path = join(await reportFolder(), 'certificate');
  await writeFile(path, content);
  const { status, printed, complained } = await command(['verify-certificate', path]);
  return { status, printed: printed.replace(path, 'FILE'), complained };
}

test('an unchanged certificate is confirmed with a summary, as JSON and as HTML', async () => {
  for (const text of [reports.json, reports.html]) {
    const { status, printed } = await verified(text);
    expect(printed).toContain('FILE is unchanged since it was written.');
    expect(printed).toContain('croupier-provider certify, version');
    expect(printed).toContain('2 passed, 1 failed, 0 blocked, 1 skipped');
    expect(printed).toContain('not certified');
    expect(printed).toContain('does not show who wrote');
    expect(status).toBe(0);
  }
});

test('a certificate is read from the standard input and from a pipe', async () => {
  const path = join(await reportFolder(), 'certificate');
  await writeFile(path, reports.html);
  for (const from of [`- < '${path}'`, `<(cat '${path}')`, `- < <(cat '${path}')`]) {
    const line = `'${process.execPath}' cli/bin/croupier-provider.js verify-certificate ${from}`;
    const { stdout } = await promisify(execFile)('bash', ['-c', line]);
    expect(stdout).toContain('is unchanged since it was written.');
  }
});

test('JSON with other white space is the same certificate', async () => {
  expect(await verified(JSON.stringify(JSON.parse(reports.json)))).toMatchObject({ status: 0 });
});

test('the reports have the cases, the classes of latency and one digest', () => {
  const { digest, cases, version, startedAt, webhookBaseUrl } = JSON.parse(reports.json) as Record<
    string,
    string
  > & {
    cases: { id: string; rule: string; outcome: string; why?: string; latencies?: { grade: string }[] }[];
  };
  expect(cases.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['signed-call', 'passed'],
    ['grant-repeated', 'failed'],
    ['status-after-spin', 'skipped'],
    ['latency', 'passed'],
  ]);
  expect(cases.every(({ rule }) => rule.length > 0)).toBe(true);
  expect(cases[3]?.latencies).toContainEqual(
    expect.objectContaining({ call: 'all', count: 20, grade: expect.stringMatching(/^[ABC]$/) as string }),
  );
  for (const report of [reports.html, reports.junit]) {
    for (const shown of [digest, version, startedAt, webhookBaseUrl, 'grant-repeated', '--play-path'])
      expect(report).toContain(shown);
    expect(report).toMatch(/class [ABC]|<td>[ABC]<\/td>/);
  }
});

test.each([
  [40, 'A'],
  [40.1, 'B'],
  [60, 'B'],
  [60.1, 'C'],
])('a p95 of %d ms is of class %s', (p95Ms, grade) => {
  expect(gradeOf({ p95Ms })).toBe(grade);
});

test.each<[keyof typeof reports, string, string | RegExp, string]>([
  ['json', 'the tenant', '"tenantId": "Spinwell"', '"tenantId": "Spinwelt"'],
  ['json', 'the version', /"version": "\d/, '"version": "9'],
  ['json', 'the time', /"startedAt": "2/, '"startedAt": "3'],
  ['json', 'the address', '127.0.0.1', '127.0.0.2'],
  ['json', 'the verdict', '"certified": false', '"certified": true'],
  ['json', 'an option', '"timeout-ms": "10000"', '"timeout-ms": "5000"'],
  ['json', 'a count', '"failed": 1', '"failed": 0'],
  ['json', 'an outcome', '"outcome": "failed"', '"outcome": "passed"'],
  ['json', 'a reason', '--play-path', '--play-patch'],
  ['json', 'a rule', 'A repeated requestRef', 'A repeated requestref'],
  ['json', 'a class', /"grade": "[ABC]"/, '"grade": "S"'],
  ['json', 'the digest', /"digest": "./, '"digest": "x'],
  ['json', 'a second key', '"certified": false', '"certified": true, "certified": false'],
  ['json', 'a notation', '"skipped": 1', '"skipped": 1.0'],
  ['html', 'the title', '<title>Provider', '<title>provider'],
  ['html', 'the verdict', 'is not certified', 'is now certified'],
  ['html', 'the style', '#a3121f', '#0a6b2d'],
  ['html', 'a fact', '2 passed, 1 failed', '3 passed, 0 failed'],
  ['html', 'an option', '--timeout-ms 10000', '--timeout-ms 5000'],
  ['html', 'an outcome', '<td class="failed">failed', '<td class="failed">passed'],
  ['html', 'a class', /<td>[ABC]<\/td>/, '<td>S</td>'],
  ['html', 'the embedded report', '&quot;certified&quot;: false', '&quot;certified&quot;: true'],
  ['html', 'the digest of the page', /sha256" content="./, 'sha256" content="x'],
  ['html', 'the end', '</html>', '</html> '],
])('a change of %s: %s is found', async (report, _, from, to) => {
  const changed = reports[report].replace(from, to);
  expect(changed).not.toBe(reports[report]);
  const { status, printed } = await verified(changed);
  expect(printed).toMatch(/^FILE (?:was changed|is not a certificate): .*\.$/);
  expect(status).toBe(1);
});

/** The page with its digest computed again, as someone would who changes it on purpose. */
function withPageDigest(page: string): string {
  const unsigned = page.replace(/(sha256" content=")[^"]*/, '$1');
  const digest = createHash('sha256').update(unsigned).digest('hex');
  return unsigned.replace('sha256" content="', `$&${digest}`);
}

test.each([
  ['the verdict', 'The integration is not certified', 'The integration is certified'],
  ['an outcome', '<td class="failed">failed', '<td class="passed">passed'],
  ['the digest of the report', /<dd>SHA-256 ./, '<dd>SHA-256 x'],
  ['more text', '</h1>', '</h1><h2>Certified in every point</h2>'],
])(
  '%s in the page that is not the report’s is found, even with a right digest of the page',
  async (_, from, to) => {
    const changed = reports.html.replace(from, to);
    expect(changed).not.toBe(reports.html);
    const { status, printed } = await verified(withPageDigest(changed));
    expect(printed).toMatch(/^FILE was changed: its page does not show the report in it\./);
    expect(status).toBe(1);
  },
);

test('a certificate of before options were written in it is confirmed', async () => {
  const { options, weakenedOptions, ...report } = JSON.parse(reports.json) as Record<string, unknown>;
  expect({ options, weakenedOptions }).toMatchObject({
    options: { calls: '20' },
    weakenedOptions: ['calls'],
  });
  const digest = digestOf(report);
  const json = jsonReport({ ...report, digest });
  const page = htmlCertificate(runOf(report), json, digest);
  expect(page).not.toContain('<dt>Options</dt>');
  for (const text of [json, page]) {
    const { status, printed } = await verified(text);
    expect({ status, printed }).toMatchObject({
      status: 0,
      printed: expect.not.stringContaining('Options') as string,
    });
  }
});

test('a page of another version is not confirmed', async () => {
  const report = JSON.parse(reports.json) as Record<string, unknown>;
  const certificate = { ...report, version: '0.0.1' };
  const digest = digestOf(certificate);
  const json = jsonReport({ ...certificate, digest });
  const page = htmlCertificate(runOf(certificate), json, digest);
  const { status, printed } = await verified(withPageDigest(page.replace('<h1>', '<h1 class="old">')));
  expect(printed).toContain('FILE cannot be checked: it names version "0.0.1"');
  expect(status).toBe(1);
});

test('a changed byte anywhere in either file is found', async () => {
  for (const text of [reports.json, reports.html]) {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 60)) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect({ at, ...(await verified(changed)) }).toMatchObject({ at, status: 1 });
    }
  }
});

test.each(['', '{}', '[]', 'null', '{"digest":"0"}', '<html></html>', 'no certificate', '{"a":'])(
  '%j is not a certificate',
  async (text) => {
    const { status, printed } = await verified(text);
    expect([status, printed]).toEqual([1, expect.stringMatching(/^FILE is not a certificate: /)]);
  },
);

test.each([
  [[], 'Name one file'],
  [['a', 'b'], 'Name one file'],
  [['/nowhere/certificate.json'], 'cannot be read'],
  [[import.meta.dirname], 'cannot be read'],
  [['--force', 'a'], "Unknown option '--force'"],
])('%j cannot be carried out', async (args, sentence) => {
  const { status, complained } = await command(['verify-certificate', ...args]);
  expect([status, complained]).toEqual([2, expect.stringContaining(sentence)]);
});
