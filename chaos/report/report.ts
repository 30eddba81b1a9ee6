import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { uncovered } from '../judge/coverage.js';
import type { Verdict } from '../judge/judge.js';
import { percentile } from '../judge/delays.js';
import type { History } from '../load/history.js';
import type { FaultKind, Plan } from '../plan.js';
import { clocksCanDiffer } from '../processes/instance.js';
import type { Measured, Run } from '../run.js';
import { renderTimeline } from './timeline.js';

/** Maximum number of findings in the report. */
const LISTED = 200;

/** A finding without its numbers and ids, so that the findings of two runs can be compared. */
const kindOf = (violation: string) =>
  violation.replaceAll(/[\d]+/g, 'N').replaceAll(/player-\S+|[0-9a-f]{8}-\S+/g, '…');

/**
 * Writes report.md, findings.json and timeline.html.
 * @returns all findings
 */
export async function writeReport(
  run: Run,
  measured: Measured,
  verdict: Verdict,
  history: History,
): Promise<readonly string[]> {
  const findings = [...verdict.violations, ...uncovered(run, verdict.coverage)];
  const before = await findingsBefore(run.folder);
  const kinds = [...new Set(findings.map(kindOf))];
  await writeFile(join(run.folder, 'findings.json'), `${JSON.stringify(kinds, undefined, 2)}\n`);
  await writeFile(
    join(run.folder, 'report.md'),
    report(run, measured, verdict, history, findings, kinds, before),
  );
  await writeFile(join(run.folder, 'timeline.html'), renderTimeline(run, history, findings));
  return findings;
}

/** The findings of the latest other run; undefined if there was none. */
async function findingsBefore(folder: string): Promise<string[] | undefined> {
  const parent = dirname(folder);
  let latest: { at: number; path: string } | undefined;
  for (const name of await readdir(parent)) {
    const path = join(parent, name, 'findings.json');
    const at = /^\d+$/.test(name) && join(parent, name) !== folder ? await modified(path) : undefined;
    if (at !== undefined && (!latest || at > latest.at)) latest = { at, path };
  }
  return latest && (JSON.parse(await readFile(latest.path, 'utf8')) as string[]);
}

async function modified(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

function report(
  run: Run,
  measured: Measured,
  verdict: Verdict,
  history: History,
  findings: readonly string[],
  kinds: readonly string[],
  before: readonly string[] | undefined,
): string {
  const { plan, parts, seed } = run;
  const fresh = kinds.filter((kind) => !before?.includes(kind));
  const resolved = (before ?? []).filter((kind) => !kinds.includes(kind));
  const counted = new Map<FaultKind, number>();
  for (const { fault } of history.faults) counted.set(fault.kind, (counted.get(fault.kind) ?? 0) + 1);
  const table = (rows: readonly (readonly [string, string | number])[]) => [
    '| | |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    '',
  ];
  const list = (items: readonly string[]) => (items.length > 0 ? items.map((item) => `- ${item}`) : ['none']);
  const money = (minor: number) => `${(minor / 100).toFixed(2)} EUR`;
  return [
    `# Seed ${seed}: ${findings.length === 0 ? 'no findings' : `${findings.length} findings`}`,
    '',
    `\`npm run chaos -- ${again(run)}\` repeats the same schedule of faults.`,
    '',
    '## Environment',
    '',
    ...table([
      ['began', measured.began.toISOString()],
      ['length of the load', `${run.minutes.toFixed(1)} min, ${run.sideBySide} rounds side by side`],
      ['machine', `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, load ${loadavg()[0]?.toFixed(1)}`],
      [
        'instances',
        `${parts.instances}, ${parts.database ? 'PostgreSQL with a synchronous replica, Redis' : 'embedded database'}`,
      ],
      [
        'clocks',
        clocksCanDiffer
          ? `ahead by ${plan.clockSeconds.join(', ')} s`
          : 'equal: libfaketime is not installed',
      ],
      ['versions', measured.versions.join(', ')],
    ]),
    '## Faults',
    '',
    ...table([...counted].map(([kind, count]) => [kind, rateOf(plan, kind, count)])),
    `Faults occur at ${run.faultRate} times the usual rates. The wallets misbehave in ${plan.misbehave * 100} % of the calls and decline ${plan.decline * 100} %.`,
    '',
    '## What was done',
    '',
    ...table([
      ['intents', measured.intents],
      ['answers', measured.answers],
      ['rounds', verdict.rounds],
      ['moves of the states, each judged', verdict.moves],
      ['attempts taken over', verdict.takenOver],
      ['BETs ended by the platform', verdict.endedByPlatform],
      ['free-spin grants', verdict.grants],
      ['BETs answered while there were no faults', verdict.calmDelays.length],
      ['their 99th percentile', `${percentile(verdict.calmDelays, 0.99) ?? 0} ms`],
      [
        "the tool's own lag",
        `${(measured.lag.sumMs / 1000).toFixed(1)} s in all, ${measured.lag.longestMs} ms at once`,
      ],
      ['requests sent again because a stopping instance closed the connection', verdict.sentAgainAtStops],
      ["readers of the console's stream", `${plan.readers} at each instance`],
      ['overviews that readers received', verdict.readers.overviews],
      ['quiet points at which they were compared', measured.quietPoints],
      ['streams opened, and refusals', `${verdict.readers.streams}, ${verdict.readers.refused}`],
      ['settled after the faults', `${measured.settledSeconds.toFixed(1)} s`],
      ["the providers' sum", money(verdict.sums.provider)],
      ["the platform's sum", money(verdict.sums.platform)],
      ["the operators' sum", money(verdict.sums.operator)],
    ]),
    '## Dangerous situations',
    '',
    ...table(Object.entries(verdict.coverage)),
    '## Findings',
    '',
    ...list(findings.slice(0, LISTED)),
    '',
    before ? '### New since the last run' : '### No run to compare with',
    '',
    ...list(before ? fresh : []),
    '',
    '### Resolved since the last run',
    '',
    ...list(resolved),
    '',
  ].join('\n');
}

function rateOf({ everySeconds }: Plan, kind: FaultKind, count: number): string {
  const every = everySeconds[kind];
  return every === undefined ? String(count) : `${count}, one every ${every} s`;
}

function again({ seed, minutes, parts, faultRate, sideBySide, plan: { scripted } }: Run): string {
  const length = scripted ? '--scripted' : `--minutes ${minutes} --fault-rate ${faultRate}`;
  const load = `--instances ${parts.instances} --side-by-side ${sideBySide}`;
  return `--seed ${seed} ${length} ${load}${parts.database ? '' : ' --embedded'}`;
}
