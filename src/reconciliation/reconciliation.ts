import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Range, ReconciliationStore } from './reconciliation.store.js';
import { Report } from './report.js';
import {
  compare,
  type Finding,
  type FindingName,
  FINDINGS,
  type Movement,
  movements,
  type ComparedPair,
} from './rules/compare.js';
import { visible } from '../runtime/visible.js';
import { readStatement } from './statement.js';

export type { Range } from './reconciliation.store.js';

export interface Task extends Range {
  readonly databaseUrl: string;
  readonly statementPath: string;
  readonly reportPath: string;
  /** Maximum number of findings in the outcome, 10 by default; the report has all. */
  readonly foundAtMost?: number;
}

export interface Outcome {
  /** Lines of the statement, without its header. */
  readonly lines: number;
  /** Lines that name a record of this operator. */
  readonly matched: number;
  readonly findings: Readonly<Record<FindingName, number>>;
  /** The first findings, in the order of the report. */
  readonly found: readonly TransactionFinding[];
  /** By currency and kind. */
  readonly sums: readonly Sum[];
}

/** A finding with its transaction. */
export interface TransactionFinding extends Finding {
  readonly providerId: string;
  readonly transactionId: string;
  readonly kind: string;
  readonly amountMinor: number;
  readonly currency: string;
}

/** The sums booked by both sides, in minor units. */
export interface Sum {
  readonly currency: string;
  readonly kind: string;
  /** A bigint, because sums may exceed 2^53. */
  operatorMinor: bigint;
  platformMinor: bigint;
}

/** The progress: bytes read, then lines compared. */
export type Progress = (stage: 'reading' | 'comparing', done: number, of: number) => void;

/** Size of a chunk of the statement, in bytes. */
const CHUNK_BYTES = 262_144;
/** Number of findings in the summary. */
export const FOUND_SHOWN = 10;

/**
 * Compares an operator's statement with the platform's records, and writes the findings to a file. It reads the whole
 * statement before it compares, so that an unreadable one has no effect. Contract, section 7, "Reconciliation".
 * @throws CsvError if the statement cannot be read; Error if the database, a file or the operator is missing
 * @throws the signal's reason once it is aborted
 */
export async function reconcile(task: Task, progress: Progress, signal: AbortSignal): Promise<Outcome> {
  const { size } = await stat(task.statementPath).catch(named('--statement'));
  const report = await Report.begin(task.reportPath).catch(named('--report'));
  let store: ReconciliationStore | undefined;
  try {
    store = await ReconciliationStore.open(task.databaseUrl);
    if (!(await store.hasOperator(task.operatorId))) {
      throw new Error(`--operator: there is no operator ${visible(task.operatorId)}`);
    }
    const chunks = counted(createReadStream(task.statementPath, { highWaterMark: CHUNK_BYTES }), (bytes) => {
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
  task: Task,
  report: Report,
  compared: (lines: number) => void,
): Promise<Omit<Outcome, 'lines'>> {
  const sums = new Map<string, Sum>();
  const found: TransactionFinding[] = [];
  const findings = Object.fromEntries(FINDINGS.map((name) => [name, 0])) as Record<FindingName, number>;
  let lines = 0;
  let matched = 0;
  for await (const pairs of store.pairs(task)) {
    for (const pair of pairs) {
      if (pair.line) lines += 1;
      if (pair.line && pair.record) matched += 1;
      const { operator, platform } = movements(pair);
      if (operator) sumOf(sums, operator).operatorMinor += BigInt(operator.amountMinor);
      if (platform) sumOf(sums, platform).platformMinor += BigInt(platform.amountMinor);
      for (const finding of compare(pair)) {
        findings[finding.name] += 1;
        if (found.length < (task.foundAtMost ?? FOUND_SHOWN)) found.push(foundIn(finding, pair));
        await report.add(finding, pair);
      }
    }
    compared(lines);
  }
  const ordered = [...sums.entries()].sort(([left], [right]) => (left < right ? -1 : 1));
  return { matched, findings, found, sums: ordered.map(([, sum]) => sum) };
}

function sumOf(sums: Map<string, Sum>, { currency, kind }: Movement): Sum {
  const key = `${currency} ${kind}`;
  const sum = sums.get(key) ?? { currency, kind, operatorMinor: 0n, platformMinor: 0n };
  sums.set(key, sum);
  return sum;
}

/** Describes the transaction by the statement's line; without a line, by the platform's record. */
function foundIn(finding: Finding, { line, record }: ComparedPair): TransactionFinding {
  const { providerId, transactionId, kind, amountMinor, currency } = (line ?? record)!;
  // Only a tombstone has no kind, and a finding about one always has a line.
  return { ...finding, providerId, transactionId, kind: kind!, amountMinor, currency };
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
    throw new Error(`${argument}: ${visible((error as Error).message)}`, { cause: error });
  };
}
