import { isUndecided } from '../../wallet/rules/facts.js';

/** Contract, section 7, "Reconciliation". */
export const FINDINGS = [
  'missing-at-operator',
  'missing-at-platform',
  'amount-differs',
  'state-differs',
  'unresolved',
  'duplicate-line',
  'ambiguous-time',
] as const;
export type FindingName = (typeof FINDINGS)[number];

export interface Finding {
  readonly name: FindingName;
  /** What differs, in a few words. */
  readonly detail: string;
}

/** A line of the operator's statement. */
export interface OperatorLine {
  readonly providerId: string;
  readonly transactionId: string;
  readonly kind: string;
  /** The target of a ROLLBACK; empty if the line names none. */
  readonly originalTransactionId: string;
  readonly playerRef: string;
  readonly currency: string;
  /** Minor units; signed for an ADJUSTMENT only. */
  readonly amountMinor: number;
  readonly status: 'APPROVED' | 'DECLINED';
  /** As written in the file. */
  readonly bookedAt: string;
}

export interface NumberedLine extends OperatorLine {
  /** The line number in the file, from 1. */
  readonly line: number;
  /** The number of the first line with this id. */
  readonly firstLine: number;
  /** Whether `bookedAt` is in the compared range; null if `bookedAt` is not a time with `Z` or an offset. */
  readonly inRange: boolean | null;
}

/** The platform's record of a transaction of this operator. */
export interface PlatformRecord {
  readonly providerId: string;
  readonly transactionId: string;
  /** Null for a tombstone: the platform never sent this transaction to the operator. */
  readonly kind: string | null;
  readonly originalTransactionId: string | null;
  readonly playerRef: string;
  readonly currency: string;
  readonly amountMinor: number;
  readonly state: 'PENDING' | 'APPROVED' | 'DECLINED' | 'TIMED_OUT' | 'ROLLED_BACK';
  /** Whether the outcome is a verdict: the platform never sent this transaction to the operator. */
  readonly ownVerdict: boolean;
  /** Whether the operator ever gave a valid answer. */
  readonly answered: boolean;
  readonly createdAt: Date;
  /** Whether `createdAt` is in the compared range. */
  readonly inRange: boolean;
}

/** The target of a ROLLBACK, as known to both sides. */
export interface Target {
  /** Whether the platform knows that the operator booked the target. */
  readonly booked: boolean;
  /** False for a tombstone, whose amount the platform does not know. */
  readonly known: boolean;
  /** The amount of the target's APPROVED line, in minor units; null if there is no such line. */
  readonly lineAmountMinor: number | null;
}

/** The two sides of one id; one of them may be missing. For a ROLLBACK, also its target. */
export interface ComparedPair {
  readonly line: NumberedLine | null;
  readonly record: PlatformRecord | null;
  readonly target: Target | null;
}

/**
 * The line that a decided record of the platform must have in the statement.
 * - `booked`: an APPROVED line
 * - `reversed-nothing`: for a ROLLBACK that had nothing to reverse, no line or an APPROVED one
 * - `anything`: any line or none, for a BET that was rolled back before it was known whether it was booked
 * - `nothing`: no line or a DECLINED one
 */
type Expectation = 'booked' | 'reversed-nothing' | 'anything' | 'nothing';

/** For each expectation, whether the line may be absent, APPROVED or DECLINED. */
const ACCEPTED: Record<Expectation, { absent: boolean; APPROVED: boolean; DECLINED: boolean }> = {
  booked: { absent: false, APPROVED: true, DECLINED: false },
  'reversed-nothing': { absent: true, APPROVED: true, DECLINED: false },
  anything: { absent: true, APPROVED: true, DECLINED: true },
  nothing: { absent: true, APPROVED: false, DECLINED: true },
};

/** Compares the two sides of one id. Contract, section 7, "Reconciliation". */
export function compare({ line, record, target }: ComparedPair): Finding[] {
  if (line && line.line !== line.firstLine) {
    return [{ name: 'duplicate-line', detail: `line ${line.firstLine} has the same id` }];
  }
  const findings: Finding[] = [];
  if (line?.inRange === null) {
    findings.push({ name: 'ambiguous-time', detail: 'bookedAt is not a time with Z or an offset' });
  }
  const sent = record && record.kind !== null;
  if (line && !sent) {
    const detail = record ? 'the platform knows only that it was rolled back' : 'the platform never sent it';
    if (line.inRange) findings.push({ name: 'missing-at-platform', detail });
  } else if (sent) {
    findings.push(...findingsOfRecord(line, record, target));
  }
  return findings;
}

/** What one side booked under one id. */
export interface Movement {
  readonly kind: string;
  readonly currency: string;
  /** Minor units; signed for an ADJUSTMENT only. */
  readonly amountMinor: number;
}

/**
 * What each side has booked under one id. If there is no finding, both movements are equal. If an APPROVED line is
 * allowed but not required, the platform's movement is taken from the statement. A transaction that is not compared has
 * no movement, so that no sum includes it.
 */
export function movements({ line, record, target }: ComparedPair): {
  readonly operator: Movement | undefined;
  readonly platform: Movement | undefined;
} {
  const sent = record && record.kind !== null ? { ...record, kind: record.kind } : undefined;
  const compared = sent !== undefined || line?.inRange === true;
  const operator = line?.status === 'APPROVED' && compared ? line : undefined;
  if (!sent || isUndecided(sent.state)) return { operator, platform: undefined };
  const first = line === null || line.line === line.firstLine;
  if (!first || (!line && !sent.inRange)) return { operator, platform: undefined };
  const { absent, APPROVED } = ACCEPTED[expectation(sent, target)];
  if (absent) return { operator, platform: APPROVED ? operator : undefined };
  const sameMoney = operator && amountAgrees(operator.amountMinor, sent, target);
  return { operator, platform: sameMoney ? { ...sent, amountMinor: operator.amountMinor } : sent };
}

function findingsOfRecord(
  line: NumberedLine | null,
  record: PlatformRecord,
  target: Target | null,
): Finding[] {
  if (isUndecided(record.state)) {
    const unresolved: Finding = { name: 'unresolved', detail: 'the platform waits for a decision' };
    if (!line) return record.inRange ? [unresolved] : [];
    return [unresolved, ...stateFindings(line, record, true), ...amountFindings(line, record, target)];
  }
  const accepted = ACCEPTED[expectation(record, target)];
  if (!line) {
    const missing = record.inRange && !accepted.absent;
    return missing ? [{ name: 'missing-at-operator', detail: 'the statement has no line for it' }] : [];
  }
  return [...stateFindings(line, record, accepted[line.status]), ...amountFindings(line, record, target)];
}

function expectation(record: PlatformRecord, target: Target | null): Expectation {
  if (record.ownVerdict || record.state === 'DECLINED') return 'nothing';
  if (record.state === 'ROLLED_BACK') return record.answered ? 'booked' : 'anything';
  return record.kind === 'ROLLBACK' && !hasSomethingToReverse(target) ? 'reversed-nothing' : 'booked';
}

function hasSomethingToReverse(target: Target | null): boolean {
  return target !== null && (target.booked || target.lineAmountMinor !== null);
}

function stateFindings(line: NumberedLine, record: PlatformRecord, statusAccepted: boolean): Finding[] {
  const different = [
    ...(statusAccepted ? [] : ['status']),
    ...(line.kind === record.kind ? [] : ['kind']),
    ...(line.playerRef === record.playerRef ? [] : ['playerRef']),
    ...(record.kind !== 'ROLLBACK' || line.originalTransactionId === record.originalTransactionId
      ? []
      : ['originalTransactionId']),
  ];
  const neverSent = record.ownVerdict && !statusAccepted ? '; the platform never sent it' : '';
  return different.length > 0 ? [{ name: 'state-differs', detail: `${differ(different)}${neverSent}` }] : [];
}

function amountFindings(line: NumberedLine, record: PlatformRecord, target: Target | null): Finding[] {
  const different = [
    ...(amountAgrees(line.amountMinor, record, target) ? [] : ['amountMinor']),
    ...(line.currency === record.currency ? [] : ['currency']),
  ];
  return different.length > 0 ? [{ name: 'amount-differs', detail: differ(different) }] : [];
}

/**
 * Whether the amount of the operator's line agrees with the platform's record. If the platform does not know whether
 * the operator booked the target of a ROLLBACK, the line may also have the amount that the operator reversed:
 * - 0 if the statement has no APPROVED line for the target
 * - the amount of that APPROVED line if the target is a tombstone, whose amount the platform does not know
 */
function amountAgrees(amountMinor: number, record: PlatformRecord, target: Target | null): boolean {
  if (amountMinor === record.amountMinor) return true;
  if (record.kind !== 'ROLLBACK' || !target || target.booked) return false;
  if (target.lineAmountMinor === null) return amountMinor === 0;
  return !target.known && amountMinor === target.lineAmountMinor;
}

function differ(fields: readonly string[]): string {
  return `${fields.join(' and ')} ${fields.length === 1 ? 'differs' : 'differ'}`;
}
