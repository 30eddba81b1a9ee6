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
  type Pair,
} from './rules/compare.js';
import { readStatement } from './statement.js';

export type { Range } from './reconciliation.store.js';

export interface Task extends Range {
  readonly databaseUrl: string;
  readonly statementPath: string;
  readonly reportPath: string;
  /** How many findings the outcome carries at most, 10 by default; the report has all. */
  readonly foundAtMost?: number;
}

export interface Outcome {
  /** Lines of the statement, its header not counted. */
  readonly lines: number;
  /** Lines that name a record of this operator. */
  readonly matched: number;
  readonly findings: Readonly<Record<FindingName, number>>;
  /** The first findings, in the order of the report. */
  readonly found: readonly Found[];
  /** By currency and kind. */
  readonly sums: readonly Sum[];
}

/** A finding with the transaction that it is about. */
export interface Found extends Finding {
  readonly providerId: string;
  readonly transactionId: string;
  /** Null of a tombstone. */
  readonly kind: string | null;
  readonly amountMinor: number;
  readonly currency: string;
}

/** What both sides have booked, in minor units. */
export interface Sum {
  readonly currency: string;
  readonly kind: string;
  /** More than 2^53 lines of 2^53 each could be. */
  operatorMinor: bigint;
  platformMinor: bigint;
}

/** How far it is: of the bytes that are read, then of the lines that are compared. */
export type Progress = (stage: 'reading' | 'comparing', done: number, of: number) => void;

/** How much of the statement is read at once, in bytes. */
const CHUNK_BYTES = 262_144;
/** Findings that the summary shows. */
export const FOUND_SHOWN = 10;

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
  task: Task,
  report: Report,
  compared: (lines: number) => void,
): Promise<Omit<Outcome, 'lines'>> {
  const sums = new Map<string, Sum>();
  const found: Found[] = [];
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

/** Named as the statement has it, where it has a line. */
function foundIn(finding: Finding, { line, record }: Pair): Found {
  const { providerId, transactionId, kind, amountMinor, currency } = (line ?? record)!;
  return { ...finding, providerId, transactionId, kind, amountMinor, currency };
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
