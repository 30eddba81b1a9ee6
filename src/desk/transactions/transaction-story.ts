import { CATALOGUE } from '../../errors/catalogue.js';
import { itemFrom } from '../../api/lists/item.js';
import { money, transactionMoney } from '../../money/money.js';
import { finishedRoundDetailsUrl } from '../../tenancy/round-details-url.js';
import { isUndecided } from '../../wallet/rules/facts.js';
import { isPlatformId } from '../../wallet/rules/platform-id.js';
import type { TransactionResponse } from '../../wallet/transaction.response.js';
import { type Advice, adviceFor, type AdviceFacts } from './advice.js';
import {
  type AttemptResponse,
  type OperatorRequestResponse,
  type TimelineEntry,
  TRANSACTION_COLUMNS,
  type TransactionDetail,
  type TransactionItem,
  type TransactionStory,
} from './transaction.admin.response.js';
import { type AttemptRecord, operatorRequestOf } from '../../wallet/transaction.js';
import type { AttemptWithAnswer, DeskRow, WholeRow } from './transaction-search.store.js';

export function itemOf(row: DeskRow): TransactionItem {
  const template = row.roundDetailsTemplate;
  return itemFrom(TRANSACTION_COLUMNS, {
    ...row,
    settledByHand: row.settledByHand || null,
    roundDetailsUrl: template === null ? null : finishedRoundDetailsUrl(template, row),
  });
}

/**
 * The details of one transaction: its attempts, its ROLLBACK, its timeline and the advice. Contract, section 7.
 * @param rollbacks the ROLLBACKs that name the transaction, newest first
 */
export function detailOf(row: WholeRow, rollbacks: readonly WholeRow[]): TransactionDetail {
  const rollback = relevantRollback(row, rollbacks);
  return {
    ...storyOf(row),
    rollback: rollback ? storyOf(rollback) : null,
    timeline: timelineOf(row, rollbacks),
    advice: adviceOf(row, rollbacks),
  };
}

/**
 * What the desk should do about a transaction.
 * @param rollbacks the ROLLBACKs that name the transaction, newest first
 */
export function adviceOf(row: WholeRow, rollbacks: readonly WholeRow[]): Advice {
  return adviceFor(adviceFactsOf(row, relevantRollback(row, rollbacks)));
}

/** The ROLLBACK whose id is the transaction's `rollbackId`, else the newest ROLLBACK that names the transaction. */
function relevantRollback(row: WholeRow, rollbacks: readonly WholeRow[]): WholeRow | undefined {
  return rollbacks.find(({ transactionId }) => transactionId === row.rollbackId) ?? rollbacks[0];
}

function adviceFactsOf(row: WholeRow, rollback: WholeRow | undefined): AdviceFacts {
  const { kind, state, amountMinor, currency, verdict, leaseAlive, parkedAt, idleSeconds, reported } = row;
  const rollbackPending = rollback?.transactionId === row.rollbackId && isUndecided(rollback.state);
  return {
    kind,
    state,
    amountMinor,
    currency,
    ownVerdict: verdict !== null,
    leaseAlive,
    parked: parkedAt !== null,
    undecidedRollback: rollbackPending
      ? { transactionId: rollback.transactionId, parked: rollback.parkedAt !== null }
      : undefined,
    idleSeconds,
    neverSent: row.attempts.length === row.attempt && row.attempts.every(isNotSent),
    providerReceivedFailure: reported !== null && reported !== 'APPROVED' && reported !== 'DECLINED',
  };
}

function isNotSent(attempt: AttemptWithAnswer): boolean {
  return attempt.outcome !== 'LEASE_OVER' && attempt.notSent !== undefined;
}

function storyOf(row: WholeRow): TransactionStory {
  const operatorRequest = requestToOperator(row);
  const { verdict, responseBody, leaseUntil } = row;
  return {
    ...itemOf(row),
    ...(verdict !== null && { verdict }),
    ...(responseBody !== null && { responseBody }),
    ...(leaseUntil !== null && { leaseUntil }),
    ...(operatorRequest && { operatorRequest }),
    attempts: attemptsOf(row),
  };
}

/** The request to the operator, which the adapter sends unchanged; undefined for a tombstone. Contract, section 4. */
function requestToOperator(row: WholeRow): OperatorRequestResponse | undefined {
  const { kind, playerRef, currency, requestedWinKind: winKind } = row;
  if (kind === null) return undefined;
  return row.verdict === null
    ? { route: '/transaction', body: operatorRequestOf({ ...row, kind, winKind }, row) }
    : { route: '/balance', body: { playerRef, currency } };
}

function attemptsOf(row: WholeRow): AttemptResponse[] {
  const settled = row.attempts.map((attempt) => attemptOf(attempt, row));
  if (row.state !== 'PENDING') return settled;
  const outcome = row.leaseAlive ? 'IN_FLIGHT' : 'LEASE_OVER';
  return [...settled, { attempt: row.attempt, outcome, startedAt: row.updatedAt.toISOString() }];
}

function attemptOf(attempt: AttemptWithAnswer, row: WholeRow): AttemptResponse {
  const { mode, responseBody } = row;
  if (attempt.outcome === 'LEASE_OVER') return { ...attempt };
  const driver = attempt.driver ?? 'provider';
  const told = driver === 'provider' ? { told: answerToProvider(attempt.outcome, responseBody) } : {};
  // A valid answer is always a 200, so its status is not stored. The answer of a DEMO wallet, or one that a person
  // entered, has no status.
  const understood = attempt.outcome === 'APPROVED' || attempt.outcome === 'DECLINED';
  const called = mode === 'REAL' && attempt.settledByHand === undefined;
  const answer = understood && called ? { operatorStatus: 200, operatorBody: validBody(attempt, row) } : {};
  return { ...attempt, ...answer, driver, ...told };
}

/**
 * The body of a valid answer, composed of the fields that the service has read. Storing the original bytes would cost
 * every transaction another write. If the platform decided by its own verdict, the service has read only the balance.
 */
function validBody(attempt: AttemptRecord, row: WholeRow): string {
  const { outcome: status, balance, reason, operatorTransactionId } = attempt;
  const { transactionId, playerRef, currency, verdict } = row;
  return JSON.stringify(
    verdict === null
      ? { transactionId, status, balance, reason, operatorTransactionId }
      : { playerRef, currency, balance },
  );
}

/**
 * The answer that the provider received after an attempt that it had caused. No attempt follows an APPROVED or DECLINED
 * one, so the transaction's stored answer belongs to that attempt.
 */
function answerToProvider(
  outcome: 'APPROVED' | 'DECLINED' | 'OPERATOR_TIMED_OUT' | 'OPERATOR_UNAVAILABLE',
  responseBody: string | null,
) {
  if (outcome === 'APPROVED' || outcome === 'DECLINED') return { status: 200, body: responseBody ?? '' };
  return { status: CATALOGUE[outcome].status, code: outcome };
}

function timelineOf(row: WholeRow, rollbacks: readonly WholeRow[]): TimelineEntry[] {
  const entries: TimelineEntry[] = [{ at: iso(row.createdAt), event: 'requested', text: requestText(row) }];
  const add: AddEntry = (at, event, text, answer = {}) => {
    if (at !== undefined) entries.push({ at, event, text, ...answer });
  };
  for (const attempt of attemptsOf(row)) addAttempt(row, attempt, add);
  if (row.reportedAt) add(iso(row.reportedAt), 'provider-told', answerWithoutAttempt(row));
  if (row.parkedAt) add(iso(row.parkedAt), 'parked', 'the resolver left it to a person');
  for (const rollback of [...rollbacks].reverse()) {
    const name = `ROLLBACK ${rollback.transactionId}`;
    add(iso(rollback.createdAt), 'rollback-requested', `${name}: ${requestText(rollback)}`);
    if (rollback.parkedAt) add(iso(rollback.parkedAt), 'parked', `the resolver left the ${name} to a person`);
    const settled = rollback.state === 'APPROVED' || rollback.state === 'DECLINED';
    if (settled) add(iso(rollback.updatedAt), 'rollback-settled', `${name} is ${rollback.state}`);
  }
  if (row.state === 'ROLLED_BACK' && row.kind !== null) {
    add(iso(row.updatedAt), 'rolled-back', 'a later attempt is DECLINED TRANSACTION_ROLLED_BACK');
  }
  // A stable sort: events of the same millisecond keep their order.
  return entries.sort((left, right) => (left.at < right.at ? -1 : left.at > right.at ? 1 : 0));
}

type AddEntry = (at: string | undefined, event: string, text: string, answer?: OperatorAnswerShown) => void;

type OperatorAnswerShown = Pick<AttemptResponse, 'operatorStatus' | 'operatorBody'>;

function addAttempt(row: WholeRow, attempt: AttemptResponse, add: AddEntry): void {
  const { outcome, startedAt, durationMs, driver, requestId, balance, reason, told } = attempt;
  const name = `attempt ${attempt.attempt}`;
  if (attempt.settledByHand) {
    const { operatorReference, reason: because } = attempt.settledByHand;
    const named = balance === undefined ? '' : `, balance ${money(balance, row.currency)}`;
    const text = `${name}: settled by hand as ${outcome}${named}, operator's reference ${operatorReference}: ${because}`;
    add(startedAt, 'settled-by-hand', text);
    return;
  }
  const route = row.verdict === null ? '/transaction' : '/balance';
  const by =
    driver === undefined ? '' : ` by the ${driver}${requestId === undefined ? '' : ` (${requestId})`}`;
  add(startedAt, 'operator-called', `${name}${by}: ${walletOf(row)} is called, ${route}`);
  if (outcome === 'LEASE_OVER') {
    const at = row.state === 'PENDING' && attempt.attempt === row.attempt ? row.leaseUntil : null;
    add(at ? iso(at) : startedAt, 'lease-over', `${name}: its outcome is unknown`);
  }
  if (startedAt === undefined || durationMs === undefined) return;
  const endedAt = iso(new Date(Date.parse(startedAt) + durationMs));
  const { operatorStatus, operatorBody } = attempt;
  const answer: OperatorAnswerShown = {
    ...(operatorStatus !== undefined && { operatorStatus }),
    ...(operatorBody !== undefined && { operatorBody }),
  };
  const detail = attempt.detail === undefined ? '' : `, ${attempt.detail}`;
  if (outcome === 'APPROVED' || outcome === 'DECLINED') {
    const why = reason === undefined ? '' : `, "${reason}"`;
    const left = balance === undefined ? '' : `, balance ${money(balance, row.currency)}`;
    add(endedAt, 'operator-answered', `${name}: ${outcome}${why}${left}${detail}`, answer);
  } else {
    const nothing = attempt.notSent ? ', nothing was sent' : '';
    add(endedAt, 'operator-silent', `${name}: ${outcome}${nothing}${detail}`, answer);
  }
  if (told) add(endedAt, 'provider-told', `${told.status} ${told.code ?? summaryOf(told.body)}`);
}

/**
 * Describes a 200 that the provider received without an attempt: a replay of the stored answer, or the refusal of a
 * transaction that was rolled back.
 */
function answerWithoutAttempt({ reportedStatus, state, responseBody }: WholeRow): string {
  const answer =
    state === 'ROLLED_BACK' && reportedStatus === 'DECLINED'
      ? 'DECLINED TRANSACTION_ROLLED_BACK'
      : summaryOf(responseBody ?? undefined);
  return `200 ${answer}, when the provider sent the transaction again`;
}

/** The status, the decline reason and the formatted balance of a stored answer. */
function summaryOf(body: string | undefined): string {
  if (body === undefined) return '';
  const { status, declineReason, balance, currency } = JSON.parse(body) as StoredAnswer;
  const why = declineReason === undefined ? '' : ` ${declineReason}`;
  return `${status}${why}, balance ${money(balance, currency)}`;
}

type StoredAnswer = Pick<TransactionResponse, 'status' | 'declineReason' | 'balance' | 'currency'>;

/** DEMO transactions are decided by the platform's own wallet with play money. */
function walletOf({ mode }: WholeRow): string {
  return mode === 'DEMO' ? 'the demo wallet' : 'the operator';
}

/** Who requested the transaction, and who decides it. */
function requestText(row: WholeRow): string {
  const { kind, amountMinor, currency, verdict, originalTransactionId, declineReason } = row;
  if (kind === null) return 'a ROLLBACK came first: a later transaction with this id is DECLINED';
  const who =
    kind === 'ADJUSTMENT'
      ? 'an administrator'
      : isPlatformId(row.transactionId)
        ? 'the platform'
        : 'the provider';
  const what = originalTransactionId === null ? '' : ` of ${originalTransactionId}`;
  const decision =
    verdict === null
      ? `${walletOf(row)} decides`
      : `decided by the platform: ${verdict}${verdict === 'DECLINED' ? ` ${declineReason}` : ''}, no money moves`;
  return `${who} requests ${kind}${what} for ${transactionMoney(kind, amountMinor, currency)}; ${decision}`;
}

function iso(date: Date): string {
  return date.toISOString();
}
