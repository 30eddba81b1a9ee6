import { constants, type FileHandle, open } from 'node:fs/promises';
import { VERSION } from '../version.js';
import { EXIT, paint, type Terminal, UsageError } from '../terminal.js';
import type { Case, CaseResult } from './outcome.js';
import { certificateOf, type GradedLatency, graded } from './reports/certificate.js';
import { htmlCertificate } from './reports/html.js';
import { jsonReport } from './reports/json.js';
import { junitReport } from './reports/junit.js';
import { counts, type Run, SUBJECTS, verdict } from './reports/run.js';
import { type Answering, runCases } from './runner.js';

/** The options that all certifications share. */
export const CERTIFICATION_OPTIONS = {
  only: { type: 'string', multiple: true },
  junit: { type: 'string' },
  json: { type: 'string' },
  html: { type: 'string' },
  list: { type: 'boolean', default: false },
} as const;

export const CERTIFICATION_HELP = `  --only ID                runs only this case; may be repeated
  --junit FILE             writes the report as JUnit XML
  --json FILE              writes the report as JSON
  --html FILE              writes the certificate, one HTML page with the JSON report;
                           verify-certificate checks both
  --list                   prints the cases with the rules of the contract, and does nothing else

The certificate shows the values of all options that have a default. Its verdict names those that
test less than their defaults, such as a longer time-out.

Exit status: 0 nothing failed, 1 something did, 2 the command cannot be carried out.`;

/** A command that certifies. */
interface Certification<Subject> {
  name: keyof typeof SUBJECTS;
  /** All its cases. */
  cases: readonly Case<Subject>[];
  /** The definitions of its options. */
  options: Readonly<Record<string, object>>;
}

/** The values of the options that all certifications share. */
interface SharedOptions {
  only?: string[] | undefined;
  junit?: string | undefined;
  json?: string | undefined;
  html?: string | undefined;
  list: boolean;
}

/** A report that can be written. */
type Format = 'junit' | 'json' | 'html';

/** Prints the cases, one per line, each with the rule of the contract that it holds, and returns the exit status. */
function listCases(cases: readonly Case<never>[], terminal: Terminal): number {
  for (const { id, group, title, rule } of cases) {
    terminal.print(`${group.padEnd(11)} ${id.padEnd(32)} ${title}. Rule: ${rule}`);
  }
  return EXIT.ok;
}

/**
 * Returns the cases that `--only` names, without it all of them, and whether these are all.
 * @throws UsageError for an unknown id
 */
function selectCases<C extends { id: string }>(
  all: readonly C[],
  only?: readonly string[],
): { cases: readonly C[]; complete: boolean } {
  const unknown = only?.find((id) => !all.some((each) => each.id === id));
  if (unknown !== undefined) throw new UsageError(`There is no case "${unknown}": --list prints them.`);
  const cases = only ? all.filter(({ id }) => only.includes(id)) : all;
  return { cases, complete: cases.length === all.length };
}

/** Options that make a certification easier to pass if their value is larger, or smaller, than the default. */
const WEAKENED_BY: Readonly<Record<string, 'more' | 'less'>> = {
  'timeout-ms': 'more',
  'slow-ms': 'less',
  'patience-seconds': 'less',
  calls: 'less',
};

/**
 * The options of a run for its certificate: those that have a default, which decide how strictly the cases test.
 * @param definitions the options that a command has
 * @param values their values in this run
 */
export function optionsOf(
  definitions: Readonly<Record<string, object>>,
  values: Readonly<Record<string, unknown>>,
): Required<Pick<Run, 'options' | 'weakenedOptions'>> {
  const options: Record<string, string> = {};
  const weakenedOptions: string[] = [];
  for (const [name, definition] of Object.entries(definitions)) {
    const [value, standard] = [values[name], (definition as { default?: unknown }).default];
    if (typeof value !== 'string' || typeof standard !== 'string') continue;
    options[name] = value;
    const excess = Number(value) - Number(standard);
    if (WEAKENED_BY[name] === 'more' ? excess > 0 : WEAKENED_BY[name] === 'less' && excess < 0)
      weakenedOptions.push(name);
  }
  return { options, weakenedOptions };
}

/**
 * Lists the cases, or runs those that are selected, prints each result, writes the reports and resolves with the exit
 * status.
 * @param prepare checks the other options and returns what the cases test, and its address or command
 * @throws UsageError if the command cannot be carried out or a report cannot be written; if its path is wrong, before the
 * first case
 */
export async function certifyWith<Subject extends Answering>(
  { name: certification, cases: all, options }: Certification<Subject>,
  values: Readonly<Record<string, unknown>> & SharedOptions,
  terminal: Terminal,
  prepare: () => Promise<{ tested: Subject; tenantId: string; url: string }>,
): Promise<number> {
  if (values.list) return listCases(all, terminal);
  const { cases, complete } = selectCases(all, values.only);
  const { tested, tenantId, url } = await prepare();
  const opened = await openAll(values);
  try {
    const startedAt = new Date(terminal.now()).toISOString();
    terminal.print(`${cases.length} cases against ${url} as ${tenantId}\n`);
    const report = (result: CaseResult) => terminal.print(line(result, terminal));
    const results = await runCases(cases, tested, report, terminal.now);
    const { subject, addressName } = SUBJECTS[certification];
    const address = { name: addressName, url };
    const about = { certification, subject, version: VERSION, tenantId, address, startedAt, complete };
    const run = { ...about, ...optionsOf(options, values), results };
    terminal.print(summary(run));
    await writeAll(opened, reportsOf(run));
    const { failed, blocked } = counts(results);
    return failed + blocked === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    for (const { handle } of opened) await handle.close();
  }
}

function reportsOf(run: Run): Record<Format, string> {
  const certificate = certificateOf(run);
  const { digest } = certificate;
  const json = jsonReport(certificate);
  return { junit: junitReport(run, digest), json, html: htmlCertificate(run, json, digest) };
}

const SIGNS = { passed: '✓', failed: '✗', blocked: '!', skipped: '-' };
const COLOURS = { passed: 'green', failed: 'red', blocked: 'yellow', skipped: 'dim' } as const;

function line({ id, title, outcome, durationMs }: CaseResult, terminal: Terminal): string {
  const sign = paint(terminal, COLOURS[outcome.kind], SIGNS[outcome.kind]);
  const head = `${sign} ${title} ${paint(terminal, 'dim', `(${id}, ${durationMs} ms)`)}`;
  switch (outcome.kind) {
    case 'passed':
      return [
        head,
        ...(outcome.latencies ?? []).map(graded).map(latencyLine),
        ...(outcome.note === undefined ? [] : [`    note      ${outcome.note}`]),
      ].join('\n');
    case 'skipped':
      return `${head}\n    skipped   ${outcome.why}`;
    default: {
      const found = `${head}\n    expected  ${outcome.expected}\n    received  ${outcome.received}`;
      return outcome.hint === undefined ? found : `${found}\n    check     ${outcome.hint}`;
    }
  }
}

function latencyLine({ call, count, p50Ms, p95Ms, p99Ms, maxMs, grade }: GradedLatency): string {
  return `    ${call.padEnd(9)} ${count} calls: p50 ${p50Ms} ms, p95 ${p95Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms, class ${grade}`;
}

function summary(run: Run): string {
  const { passed, failed, blocked, skipped } = counts(run.results);
  const sum = `\n${passed} passed, ${failed} failed, ${blocked} blocked by a failure, ${skipped} skipped`;
  const sentence = verdict(run);
  return sentence === undefined ? sum : `${sum}\n${sentence}`;
}

interface OpenFile {
  format: Format;
  path: string;
  handle: FileHandle;
}

/**
 * Opens the files of the reports before the cases run, which takes minutes. They keep their content until then.
 * @throws UsageError if one cannot be written
 */
async function openAll(files: SharedOptions): Promise<OpenFile[]> {
  const opened: OpenFile[] = [];
  for (const format of ['junit', 'json', 'html'] as const) {
    const path = files[format];
    if (path === undefined) continue;
    try {
      opened.push({ format, path, handle: await open(path, constants.O_WRONLY | constants.O_CREAT) });
    } catch (error) {
      for (const { handle } of opened) await handle.close();
      throw new UsageError(unwritable(path, error));
    }
  }
  return opened;
}

/**
 * Writes every report that can be written.
 * @throws UsageError naming those that cannot
 */
async function writeAll(files: readonly OpenFile[], reports: Record<Format, string>): Promise<void> {
  const failures: string[] = [];
  for (const { format, path, handle } of files) {
    try {
      // A pipe or a terminal cannot be truncated.
      if ((await handle.stat()).isFile()) await handle.truncate();
      await handle.writeFile(reports[format]);
    } catch (error) {
      failures.push(unwritable(path, error));
    }
  }
  if (failures.length > 0) throw new UsageError(failures.join('; '));
}

function unwritable(path: string, error: unknown): string {
  return `${path} cannot be written: ${(error as Error).message}`;
}
