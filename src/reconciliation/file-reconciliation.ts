import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { failureText } from '../runtime/failure-text.js';
import { visible } from '../runtime/visible.js';
import { compareStatement, type Outcome } from './comparison.js';
import { FOUND_SHOWN, RECORDED } from './recorded-findings.js';
import { type Range, ReconciliationStore } from './reconciliation.store.js';
import { Report } from './report.js';

export interface Task extends Range {
  readonly databaseUrl: string;
  readonly statementPath: string;
  readonly reportPath: string;
  /**
   * Whether the caller records the findings. If so, the outcome has the first `RECORDED` findings instead of the first
   * `FOUND_SHOWN`; the report has all.
   */
  readonly record?: boolean;
}

/** The progress: bytes read, then lines compared. */
export type Progress = (stage: 'reading' | 'comparing', done: number, of: number) => void;

/** Size of a chunk of the statement, in bytes. */
const CHUNK_BYTES = 262_144;

/**
 * Compares an operator's statement, which is a file, with the platform's records, and writes the findings to a file.
 * @param finish called when the report is complete; with `record`, the operator's lock is held until it resolves
 * @throws CsvError if the statement cannot be read; Error if the database, a file or the operator is missing, or if
 *   another run records findings of the operator
 * @throws the signal's reason once it is aborted
 */
export async function reconcile(
  task: Task,
  progress: Progress,
  signal: AbortSignal,
  finish: (outcome: Outcome) => Promise<void> = () => Promise.resolve(),
): Promise<Outcome> {
  const { size } = await stat(task.statementPath).catch(named('--statement'));
  const report = await Report.begin(task.reportPath).catch(named('--report'));
  let store: ReconciliationStore | undefined;
  try {
    store = await ReconciliationStore.open(task.databaseUrl);
    if (!(await store.hasOperator(task.operatorId))) {
      throw new Error(`--operator: there is no operator ${visible(task.operatorId)}`);
    }
    if (task.record && !(await store.tryLockRecording(task.operatorId))) {
      const other = `another reconciliation that records findings of ${visible(task.operatorId)} is under way`;
      throw new Error(`--record: ${other}: try again when it has ended`);
    }
    const chunks = counted(createReadStream(task.statementPath, { highWaterMark: CHUNK_BYTES }), (bytes) => {
      signal.throwIfAborted();
      progress('reading', bytes, size);
    });
    const outcome = await compareStatement(store, task, chunks, {
      foundAtMost: task.record ? RECORDED : FOUND_SHOWN,
      onFinding: (finding) => report.add(finding),
      onCompared: (done, of) => {
        signal.throwIfAborted();
        progress('comparing', done, of);
      },
    });
    await report.finish();
    await finish(outcome);
    return outcome;
  } catch (error) {
    await report.discard();
    throw error;
  } finally {
    await store?.close();
  }
}

/** Passes on the chunks, and reports the bytes read so far. */
async function* counted(
  chunks: AsyncIterable<Buffer>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    onRead((bytes += chunk.length));
    yield chunk;
  }
}

/** Prefixes the message of a file error with the command-line argument that names the file. */
function named(argument: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`${argument}: ${visible(failureText(error))}`, { cause: error });
  };
}
