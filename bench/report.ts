import type { Name } from './contestants.js';
import type { Case, Measured } from './measure.js';
import type { Results } from './results.js';

/** A progress line with the figures of each contestant. */
export function lineOf(name: string, measured: Case): string {
  const each = measured.of.map(({ name: who, perSecond, p50, p99 }) => {
    return `${who} ${whole(perSecond)}/s p50 ${milliseconds(p50)} p99 ${milliseconds(p99)} ms`;
  });
  return [name.padEnd(28), ...each].join('  ');
}

/** All figures as Markdown: a table for each workload, with closed and open loops. */
export function table({ cases, machine, settings, reference, witnessed }: Results): string {
  const { cores, cpu, node, postgres } = machine;
  const head = [
    `Node ${node}, PostgreSQL ${postgres}, ${cores} cores (${cpu}), synchronous_commit ${settings['synchronous_commit']}.`,
    `“: ${reference}” is the ratio to the ${reference} in the neighbouring slices; “~” stands before a p99.9 of fewer than 10,000 requests.`,
    ...witnessed.map(
      ({ name, bets }) =>
        `${name}: ${bets} BETs witnessed, each claim was committed before its call and each settlement before its answer.`,
    ),
  ].join('\n');
  const workloads = [...new Set(cases.map(titleOf))];
  const tables = workloads.map((title) => {
    const rows = cases.filter((each) => titleOf(each) === title).flatMap((each) => rowsOf(each, reference));
    return `${title}\n\n${aligned([headings(reference), ...rows])}`;
  });
  return [head, ...tables].join('\n\n');
}

const headings = (reference: Name) => [
  'load',
  'contestant',
  'req/s',
  'p50 ms',
  'p99 ms',
  'p99.9 ms',
  'server µs',
  'PostgreSQL µs',
  'MiB',
  `req/s : ${reference}`,
  `CPU : ${reference}`,
  `p50 : ${reference}`,
  `p50 − ${reference} ms`,
];

function titleOf({ workload, pace }: Case): string {
  return pace === undefined ? `${workload}, closed loop` : `${workload}, open loop`;
}

function rowsOf({ connections, pace, of }: Case, reference: Name): string[][] {
  const load = pace === undefined ? `${connections} connection${connections === 1 ? '' : 's'}` : `${pace}/s`;
  return of.map((measured, index) => [index === 0 ? load : '', ...rowOf(measured, reference)]);
}

/** With fewer requests than this, p99.9 is only the slowest few. */
const ENOUGH_FOR_P999 = 10_000;

function rowOf({ name, ratio, ...of }: Measured, reference: Name): string[] {
  const times = (value: number) => (name === reference ? '1' : `${value.toFixed(2)}×`);
  const p999 = milliseconds(of.p999);
  return [
    of.unserved > 0 ? `${name} (overloaded)` : name,
    whole(of.perSecond),
    milliseconds(of.p50),
    milliseconds(of.p99),
    of.requests < ENOUGH_FOR_P999 ? `~${p999}` : p999,
    whole(of.serverCpu),
    whole(of.postgresCpu),
    whole(of.memoryMiB),
    times(ratio.throughput),
    times(ratio.cpu),
    times(ratio.p50),
    name === reference ? '0' : ratio.p50Above.toFixed(2),
  ];
}

export const whole = (value: number) => Math.round(value).toLocaleString('en');

export const milliseconds = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

/** A Markdown table whose columns line up: the first ones, with text, to the left, numbers to the right. */
export function aligned(rows: readonly (readonly string[])[], textColumns = 2): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const left = (column: number) => column < textColumns;
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (left(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    left(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(rows[0]!), line(rule), ...rows.slice(1).map(line)].join('\n');
}
