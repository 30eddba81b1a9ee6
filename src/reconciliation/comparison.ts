import { money, transactionMoney } from '../money/money.js';
import { visible } from '../runtime/visible.js';
import { CsvError } from './csv.reader.js';
import { type FindingItem, findingItem } from './finding.js';
import type { Range, ReconciliationStore } from './reconciliation.store.js';
import {
  compare,
  type ComparedPair,
  type Finding,
  type FindingName,
  FINDINGS,
  type Movement,
  movements,
} from './rules/compare.js';
import { readStatement } from './statement.js';

/** The result of a comparison. Texts of the statement are `visible`. */
export interface Outcome {
  /** Lines of the statement, without its header. */
  readonly lines: number;
  /** Lines that name a record of this operator. */
  readonly matched: number;
  readonly findings: Readonly<Record<FindingName, number>>;
  /** The first findings, in the order of the statement. */
  readonly found: readonly TransactionFinding[];
  /** By currency and kind. */
  readonly sums: readonly Sum[];
}

/** A finding with its transaction. */
export interface TransactionFinding extends Finding {
  /** Whether the platform has the transaction. */
  readonly isRecorded: boolean;
  readonly providerId: string;
  readonly transactionId: string;
  readonly kind: string;
  readonly amountMinor: number;
  readonly currency: string;
}

/** The sums booked by both sides, in minor units. */
interface Sum {
  readonly currency: string;
  readonly kind: string;
  /** A bigint, because sums may exceed 2^53. */
  operatorMinor: bigint;
  platformMinor: bigint;
}

/** What a caller adds to a comparison. */
export interface ComparisonOptions {
  /** Maximum number of findings in the outcome. */
  readonly foundAtMost: number;
  /** Receives every finding. */
  readonly onFinding: (finding: FindingItem) => Promise<void> | void;
  /** Runs after each batch of compared pairs. */
  readonly onCompared: (lines: number, of: number) => Promise<void> | void;
  /** Throws if there are too many pairs. Runs for each batch of pairs before it is compared. */
  readonly onPairs?: (pairs: number) => void;
  /** The time for the next statement of the comparison, in milliseconds. Throws if none is left. By default unlimited. */
  readonly remainingMs?: () => number;
}

/** Maximum number of sums. Currencies of a statement are not checked, so each line could have another one. */
const MAX_SUMS = 1_000;

/**
 * Compares an operator's statement with the platform's records. It reads the whole statement before it compares, so that
 * an unreadable one has no effect. Contract, section 7, "Reconciliation".
 * @throws CsvError if the statement is invalid, or the error of reading it
 */
export async function compareStatement(
  store: ReconciliationStore,
  range: Range,
  statement: AsyncIterable<Buffer>,
  { foundAtMost, onFinding, onCompared, onPairs, remainingMs }: ComparisonOptions,
): Promise<Outcome> {
  const lines = await store.load(readStatement(statement));
  const sums = new Map<string, Sum>();
  const found: TransactionFinding[] = [];
  const findings = Object.fromEntries(FINDINGS.map((name) => [name, 0])) as Record<FindingName, number>;
  let compared = 0;
  let matched = 0;
  for await (const pairs of store.pairs(range, remainingMs)) {
    onPairs?.(pairs.length);
    for (const pair of pairs) {
      if (pair.line) compared += 1;
      if (pair.line && pair.record) matched += 1;
      const { operator, platform } = movements(pair);
      if (operator) sumOf(sums, operator).operatorMinor += BigInt(operator.amountMinor);
      if (pair.line && sums.size > MAX_SUMS) {
        throw new CsvError(pair.line.line, 1, `there are more than ${MAX_SUMS} pairs of currency and kind`);
      }
      if (platform) sumOf(sums, platform).platformMinor += BigInt(platform.amountMinor);
      for (const finding of compare(pair).map((each) => withAmounts(each, pair))) {
        findings[finding.name] += 1;
        if (found.length < foundAtMost) found.push(foundIn(finding, pair));
        await onFinding(findingItem(finding, pair));
      }
    }
    await onCompared(compared, lines);
  }
  const ordered = [...sums.entries()].sort(([left], [right]) => (left < right ? -1 : 1));
  return { lines, matched, findings, found, sums: ordered.map(([, sum]) => sum) };
}

/** The number of findings. */
export function totalOf({ findings }: Pick<Outcome, 'findings'>): number {
  return FINDINGS.reduce((sum, name) => sum + findings[name], 0);
}

function sumOf(sums: Map<string, Sum>, { currency, kind }: Movement): Sum {
  const key = `${currency} ${kind}`;
  const sum = sums.get(key) ?? { currency: visible(currency), kind, operatorMinor: 0n, platformMinor: 0n };
  sums.set(key, sum);
  return sum;
}

/** Adds the amounts of both sides as money to the detail of an `amount-differs`. */
function withAmounts(finding: Finding, { line, record }: ComparedPair): Finding {
  if (finding.name !== 'amount-differs' || !line || !record) return finding;
  const operator = money(line.amountMinor, visible(line.currency));
  const platform = transactionMoney(record.kind, record.amountMinor, record.currency);
  return {
    ...finding,
    detail: `${finding.detail}: ${operator} at the operator, ${platform} on the platform`,
  };
}

/** Describes the transaction by the statement's line; without a line, by the platform's record. */
function foundIn(finding: Finding, { line, record }: ComparedPair): TransactionFinding {
  const { providerId, transactionId, kind, amountMinor, currency } = (line ?? record)!;
  // Only a tombstone has no kind, and a finding about one always has a line.
  return {
    ...finding,
    isRecorded: record !== null,
    providerId: visible(providerId),
    transactionId: visible(transactionId),
    kind: kind!,
    amountMinor,
    currency: visible(currency),
  };
}
