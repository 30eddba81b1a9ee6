import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readStorage } from '../config/configuration.js';
import { callersFolder, readEnvironment } from '../config/environment.js';
import { type Outcome, type Progress, reconcile, type Task } from '../reconciliation/reconciliation.js';
import { FINDINGS } from '../reconciliation/rules/compare.js';
import { monotonicMs } from '../runtime/clock.js';
import { instantOrDayMs } from '../runtime/instant.js';
import { tolerateBrokenOutput } from '../runtime/standard-streams.js';
import { atServiceDatabase } from './service-database.js';

const USAGE = `npm run reconcile -- --operator ID --from T --to T --statement FILE.csv [--report FILE.csv]

  --operator   whose wallet the statement is of
  --from, --to the range, from <= time < to, as 2026-03-01T00:00:00Z, with an offset, or a day in UTC (2026-03-01)
  --statement  what the operator has booked, as CSV
  --report     where the findings go; default: the statement's name with .findings.csv

Exit status 0: all agree; 1: findings; 2: could not run.`;

/** The exit statuses of the contract's section 7. */
const STATUS = { agree: 0, findings: 1, couldNotRun: 2 } as const;

type Arguments = Omit<Task, 'databaseUrl'>;

async function main(): Promise<number> {
  const asked = readArguments(process.argv.slice(2));
  if (!asked) {
    process.stdout.write(`${USAGE}\n`);
    return STATUS.agree;
  }
  const bar = progressBar(process.stderr);
  try {
    const signal = interruption();
    const outcome = await atServiceDatabase(readEnvironment(readStorage), (databaseUrl) =>
      reconcile({ ...asked, databaseUrl }, bar.show, signal),
    );
    bar.clear();
    process.stdout.write(summary(asked, outcome));
    return FINDINGS.some((name) => outcome.findings[name] > 0) ? STATUS.findings : STATUS.agree;
  } catch (error) {
    bar.clear();
    throw error;
  }
}

/** Nothing where help is asked for. @throws Error naming the argument that is wrong */
function readArguments(args: string[]): Arguments | undefined {
  const text = { type: 'string' } as const;
  const options = { operator: text, from: text, to: text, statement: text, report: text };
  const { values } = parseArgs({ args, options: { ...options, help: { type: 'boolean' } } });
  if (values.help) return undefined;
  const needed = (name: 'operator' | 'from' | 'to' | 'statement') => {
    const value = values[name];
    if (!value) throw new Error(`--${name}: is required\n\n${USAGE}`);
    return value;
  };
  const operatorId = needed('operator');
  const from = instant('from', needed('from'));
  const to = instant('to', needed('to'));
  if (from >= to) throw new Error('--to: must be later than --from');
  const statementPath = resolve(callersFolder('reconcile'), needed('statement'));
  const report = values.report ?? `${statementPath.replace(/\.csv$/i, '')}.findings.csv`;
  const reportPath = resolve(callersFolder('reconcile'), report);
  if (reportPath === statementPath) throw new Error('--report: would replace the statement');
  return { operatorId, from, to, statementPath, reportPath };
}

function instant(name: string, text: string): Date {
  const ms = instantOrDayMs(text);
  if (ms !== null) return new Date(ms);
  throw new Error(
    `--${name}: ${JSON.stringify(text)} is no time with Z or an offset, as 2026-03-01T00:00:00Z`,
  );
}

/** Ctrl-C and SIGTERM let the work undo what it has begun; a second one ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => controller.abort(new Error(`interrupted by ${name}; no report was written`)));
  }
  return controller.signal;
}

function summary(asked: Arguments, { lines, matched, findings }: Outcome): string {
  const total = FINDINGS.reduce((sum, name) => sum + findings[name], 0);
  return [
    `operator   ${asked.operatorId}`,
    `range      ${asked.from.toISOString()} <= time < ${asked.to.toISOString()}`,
    `statement  ${asked.statementPath}: ${lines} lines, ${matched} of them known to the platform`,
    `findings   ${total === 0 ? 'none: all agree' : total}`,
    ...FINDINGS.filter((name) => findings[name] > 0).map((name) => `  ${name.padEnd(20)} ${findings[name]}`),
    `report     ${asked.reportPath}`,
    '',
  ].join('\n');
}

const BAR_WIDTH = 30;
/** How often the bar is drawn anew, in milliseconds. */
const REDRAW_MS = 100;

/** A bar on a terminal, nothing elsewhere. */
function progressBar(stream: NodeJS.WriteStream): { show: Progress; clear: () => void } {
  if (!stream.isTTY) return { show: () => undefined, clear: () => undefined };
  let drawnMs = -Infinity;
  return {
    show: (stage, done, of) => {
      const nowMs = monotonicMs();
      if (nowMs - drawnMs < REDRAW_MS) return;
      drawnMs = nowMs;
      const part = of === 0 ? 1 : Math.min(done / of, 1);
      const bar = '#'.repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
      stream.write(`\r\x1b[K${stage.padEnd(9)} [${bar}] ${String(Math.floor(part * 100)).padStart(3)} %`);
    },
    clear: () => void stream.write('\r\x1b[K'),
  };
}

tolerateBrokenOutput();
try {
  process.exitCode = await main();
} catch (error) {
  const { message, code } = error as { message?: string; code?: string };
  process.stderr.write(`reconcile: ${message || code || String(error)}\n`);
  process.exitCode = STATUS.couldNotRun;
}
