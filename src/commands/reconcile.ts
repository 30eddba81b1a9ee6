import { resolve } from 'node:path';
import { userInfo } from 'node:os';
import { readStorage } from '../config/configuration.js';
import { callersFolder, readEnvironment } from '../config/environment.js';
import { money } from '../money/money.js';
import { type Outcome, totalOf } from '../reconciliation/comparison.js';
import { type Progress, reconcile, type Task } from '../reconciliation/file-reconciliation.js';
import { recordInTransaction } from '../reconciliation/record.js';
import { FOUND_SHOWN, RECORDED, sentenceOf } from '../reconciliation/recorded-findings.js';
import { FINDINGS } from '../reconciliation/rules/compare.js';
import { monotonicMs } from '../runtime/clock.js';
import { interruption } from '../runtime/interruption.js';
import { instantOfStatementMs, instantOrDayMs } from '../runtime/instant.js';
import { runCommand, UsageError } from '../runtime/command-line.js';
import { visible } from '../runtime/visible.js';
import { atServiceDatabase, withDatabase } from './service-database.js';

const COMMAND = {
  name: 'reconcile',
  help: `npm run reconcile -- --operator ID --from T --to T --statement FILE.csv [--report FILE.csv] [--record]

  --operator   the operator of the statement
  --from, --to the range, from <= time < to, as 2026-03-01T00:00:00Z, with an offset, or a day in UTC (2026-03-01)
  --statement  what the operator has booked, as CSV
  --report     the file for the findings; default: the statement's name with .findings.csv
  --record     also add the findings to the attention queue, and close its items whose finding is gone

Exit status 0: all agree; 1: findings; 2: could not run.`,
  options: {
    operator: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    statement: { type: 'string' },
    report: { type: 'string' },
    record: { type: 'boolean' },
  },
} as const;

type Values = { readonly [name in Exclude<keyof typeof COMMAND.options, 'record'>]?: string } & {
  readonly record?: boolean;
};

type Arguments = Omit<Task, 'databaseUrl'>;

async function run(values: Values): Promise<number> {
  const given = argumentsIn(values);
  const bar = progressBar(process.stderr);
  const { signal, end } = interruption();
  try {
    return await atServiceDatabase(readEnvironment(readStorage), async (databaseUrl) => {
      const finish = async (outcome: Outcome) => {
        bar.clear();
        // Printed first, because recording may fail, and the comparison may have taken minutes.
        process.stdout.write(summary(given, outcome));
        if (given.record) process.stdout.write(await record(databaseUrl, given, outcome));
      };
      const outcome = await reconcile({ ...given, databaseUrl }, bar.show, signal, finish);
      return totalOf(outcome) > 0 ? 1 : 0;
    });
  } catch (error) {
    bar.clear();
    throw error;
  } finally {
    end();
  }
}

/**
 * Puts the findings into the attention queue.
 * @returns a line of the summary
 */
async function record(databaseUrl: string, task: Arguments, outcome: Outcome): Promise<string> {
  const by = `command:reconcile:${userInfo().username}`;
  const { opened, closed, complete } = await withDatabase(databaseUrl, (database) =>
    recordInTransaction(database, task, outcome, by),
  );
  const left = complete ? '' : `; only the first ${RECORDED} findings were recorded`;
  return `recorded   items of the attention queue: ${opened} opened, ${closed} closed${left}\n`;
}

/** @throws UsageError naming the invalid argument */
function argumentsIn(values: Values): Arguments {
  const needed = (name: 'operator' | 'from' | 'to' | 'statement') => {
    const value = values[name];
    if (!value) throw new UsageError(`--${name}: is required`);
    return value;
  };
  const operatorId = needed('operator');
  const from = instant('from', needed('from'));
  const to = instant('to', needed('to'));
  if (from >= to) throw new UsageError('--to: must be later than --from');
  const statementPath = resolve(callersFolder('reconcile'), needed('statement'));
  const report = values.report ?? `${statementPath.replace(/\.csv$/i, '')}.findings.csv`;
  const reportPath = resolve(callersFolder('reconcile'), report);
  if (reportPath === statementPath) throw new UsageError('--report: would replace the statement');
  return { operatorId, from, to, statementPath, reportPath, record: values.record ?? false };
}

function instant(name: string, text: string): Date {
  const ms = instantOrDayMs(text) ?? instantOfStatementMs(text);
  if (ms !== null) return new Date(ms);
  throw new UsageError(
    `--${name}: ${JSON.stringify(text)} is not a time with Z or an offset, such as 2026-03-01T00:00:00Z`,
  );
}

function summary(task: Arguments, outcome: Outcome): string {
  const { lines, matched, findings, found, sums } = outcome;
  const total = totalOf(outcome);
  return [
    `operator   ${task.operatorId}`,
    `range      ${task.from.toISOString()} <= time < ${task.to.toISOString()}`,
    `statement  ${task.statementPath}: ${lines} lines, ${matched} of them known to the platform`,
    ...sums.map(
      ({ currency, kind, operatorMinor, platformMinor }, index) =>
        (index === 0 ? 'booked' : '').padEnd(11) +
        `${kind.padEnd(10)} operator ${money(operatorMinor, currency)}, platform ${money(platformMinor, currency)}`,
    ),
    `findings   ${total === 0 ? 'none: all agree' : total}`,
    ...FINDINGS.filter((name) => findings[name] > 0).map((name) => `  ${name.padEnd(20)} ${findings[name]}`),
    ...found.slice(0, FOUND_SHOWN).map((finding) => `  ${sentenceOf(finding)}`),
    ...(total > FOUND_SHOWN ? [`  and ${total - FOUND_SHOWN} more, in the report`] : []),
    `report     ${task.reportPath}`,
    '',
  ]
    .map(visible)
    .join('\n');
}

const BAR_WIDTH = 30;
/** Minimum time between two drawings of the bar, in milliseconds. */
const REDRAW_MS = 100;

/** A progress bar on a terminal; prints nothing otherwise. */
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

await runCommand(COMMAND, run);
