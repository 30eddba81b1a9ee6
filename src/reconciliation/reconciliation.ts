import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Range, ReconciliationStore } from './reconciliation.store.js';
import { Report } from './report.js';
import { compare, type FindingName, FINDINGS } from './rules/compare.js';
import { readStatement } from './statement.js';

export type { Range } from './reconciliation.store.js';

export interface Task extends Range {
  readonly databaseUrl: string;
  readonly statementPath: string;
  readonly reportPath: string;
}

export interface Outcome {
  /** Lines of the statement, its header not counted. */
  readonly lines: number;
  /** Lines that name a record of this operator. */
  readonly matched: number;
  readonly findings: Readonly<Record<FindingName, number>>;
}

/** How far it is: of the bytes that are read, then of the lines that are compared. */
export type Progress = (stage: 'reading' | 'comparing', done: number, of: number) => void;

/** How much of the statement is read at once, in bytes. */
const CHUNK_BYTES = 262_144;

/**
 * Compares an operator's statement with the platform's records, and leaves the findings in a file. It reads the
 * statement to its end before it compares, so that one that cannot be read changes nothing. Contract, section 7.
 * @throws CsvError where the statement cannot be read; Error where the database, a file or the operator is not there
 * @throws the signal's reason once it is aborted
 */
export async function reconcile(task: Task, progress: Progress, signal: AbortSignal): Promise<Outcome> {
  const { size } = await stat(task.statementPath).catch(named('--statement'));
  const report = await Report.begin(task.reportPath).catch(named('--report'));
  let store: ReconciliationStore | undefined;
  try {
    store = await ReconciliationStore.open(task.databaseUrl);
    if (!(await store.hasOperator(task.operatorId))) {
      throw new Error(`--operator: there is no operator ${task.operatorId}`);
    }
    const chunks = told(createReadStream(task.statementPath, { highWaterMark: CHUNK_BYTES }), (bytes) => {
      signal.throwIfAborted();
      progress('reading', bytes, size);
    });
    const lines = await store.load(readStatement(chunks));
    const outcome = await compareAll(store, task, report, (done) => {
      signal.throwIfAborted();
      progress('comparing', done, lines);
    });
    await report.finish();
    return { lines, ...outcome };
  } catch (error) {
    await report.discard();
    throw error;
  } finally {
    await store?.close();
  }
}

async function compareAll(
  store: ReconciliationStore,
  range: Range,
  report: Report,
  compared: (lines: number) => void,
): Promise<Pick<Outcome, 'matched' | 'findings'>> {
  const findings = Object.fromEntries(FINDINGS.map((name) => [name, 0])) as Record<FindingName, number>;
  let lines = 0;
  let matched = 0;
  for await (const pairs of store.pairs(range)) {
    for (const pair of pairs) {
      if (pair.line) lines += 1;
      if (pair.line && pair.record) matched += 1;
      for (const finding of compare(pair)) {
        findings[finding.name] += 1;
        await report.add(finding, pair);
      }
    }
    compared(lines);
  }
  return { matched, findings };
}

/** The chunks as they come, each told with the bytes that came so far. */
async function* told(chunks: AsyncIterable<Buffer>, tell: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    tell((bytes += chunk.length));
    yield chunk;
  }
}

/** Says which argument a file is that is not there. */
function named(argument: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`${argument}: ${(error as Error).message}`, { cause: error });
  };
}
