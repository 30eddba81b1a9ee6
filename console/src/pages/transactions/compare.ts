import type { Schema } from '../../api/schemas.ts';
import { isUndecided } from '../../parts/lists/transaction-columns.tsx';

type Detail = Schema<'TransactionDetail'>;

/** What the three parties know about one thing. A value that a party does not have is undefined. */
export interface ComparedRow {
  readonly name: 'outcome' | 'balance' | 'declineReason' | 'operatorTransactionId';
  readonly provider: string | undefined;
  readonly platform: string | undefined;
  readonly operator: string | undefined;
  readonly differs: boolean;
}

/**
 * What was reported to the provider, what the platform holds, and what the operator answered last. A ROLLBACK that one
 * of them knows to be APPROVED counts for it as the outcome ROLLED_BACK.
 */
export function comparisonOf(detail: Detail): ComparedRow[] {
  const told = lastTold(detail);
  const answered = detail.attempts.at(-1);
  const held = storedAnswer(detail.responseBody);
  return [
    outcomeRow(detail, told, answered),
    row('balance', detail.balance, held.balance, answered?.balance),
    row('declineReason', told?.declineReason, detail.declineReason, undefined),
    row('operatorTransactionId', undefined, detail.operatorTransactionId, answered?.operatorTransactionId),
  ].filter(({ provider, platform, operator }) => provider ?? platform ?? operator);
}

interface Told {
  readonly text: string;
  /** Undefined if it was an error: no outcome was reported. */
  readonly outcome: string | undefined;
  readonly declineReason: string | undefined;
}

/** The provider's last answer, from the timeline: it may have been a repetition, which is no attempt. */
function lastTold({ timeline }: Detail): Told | undefined {
  const entry = timeline.findLast(({ event }) => event === 'provider-told');
  if (!entry) return undefined;
  const [, status, word, reason] = /^(\d{3}) ([A-Z_]+)(?: ([A-Z_]+))?/.exec(entry.text) ?? [];
  const outcome = status === '200' ? word : undefined;
  return {
    text: word === undefined ? entry.text : (outcome ?? `${status} ${word}`),
    outcome,
    declineReason: reason,
  };
}

function outcomeRow(
  detail: Detail,
  told: Told | undefined,
  answered: Detail['attempts'][number] | undefined,
): ComparedRow {
  const { state, rollback } = detail;
  const rolledBack = state === 'ROLLED_BACK' && rollback?.state === 'APPROVED';
  const operatorDecides = detail.operatorRequest?.route === '/transaction' && answered !== undefined;
  const rollbackIsKnown =
    (rolledBack && rollback.balance !== undefined) ||
    (state === 'ROLLED_BACK' && told?.declineReason === 'TRANSACTION_ROLLED_BACK');
  const provider = hasProvider(detail)
    ? rollbackIsKnown
      ? 'ROLLED_BACK'
      : (told?.outcome ?? UNKNOWN)
    : undefined;
  const platform = isUndecided(state) ? UNKNOWN : state;
  const operator = operatorDecides
    ? rolledBack
      ? 'ROLLED_BACK'
      : isDecision(answered.outcome)
        ? answered.outcome
        : UNKNOWN
    : undefined;
  const known = [provider, platform, operator].filter((value) => value !== undefined);
  return {
    name: 'outcome',
    provider: provider === UNKNOWN ? told?.text : provider,
    platform: state,
    operator: operator === UNKNOWN ? answered?.outcome : operator,
    differs: new Set(known).size > 1,
  };
}

/** No outcome: the transaction is undecided for this party. */
const UNKNOWN = 'UNKNOWN';

const isDecision = (outcome: string) => outcome === 'APPROVED' || outcome === 'DECLINED';

/** Adjustments and the platform's own ROLLBACKs were not requested by a provider. */
export function hasProvider({ kind, transactionId }: Pick<Detail, 'kind' | 'transactionId'>): boolean {
  return kind !== 'ADJUSTMENT' && !transactionId.startsWith('croupier-');
}

function row(
  name: ComparedRow['name'],
  provider: string | number | undefined,
  platform: string | number | undefined,
  operator: string | number | undefined,
): ComparedRow {
  const [first, second, third] = [provider, platform, operator].map((value) =>
    value === undefined ? undefined : String(value),
  );
  const known = [first, second, third].filter((value) => value !== undefined);
  return { name, provider: first, platform: second, operator: third, differs: new Set(known).size > 1 };
}

function storedAnswer(body: string | undefined): { balance?: number } {
  return body === undefined ? {} : (JSON.parse(body) as { balance?: number });
}
