import { type ActionTerms, type GrantTerms, spinsOf, summaryOf } from '../approvals/guarded-action.js';
import type { FlaggedWin } from '../free-spins/winnings/winnings.service.js';
import { money, transactionMoney } from '../money/money.js';
import { AFTER_BATCH_ID, type Cause, type GrantsOfBatch, subjectOf } from './attention.js';

/*
 * Maps the rows that the searches find to causes. The summary of a cause is a sentence with amounts such as `2.50 EUR`;
 * `href` is the API path of the record.
 */

export interface SearchedRow {
  /** Whether the row is a cause now. */
  readonly due: boolean;
  /** Whether the row has an item that is up to date. */
  readonly known: boolean;
  /** The id of the item of an earlier cause with the same subject, which a new item replaces; null if there is none. */
  readonly earlierItem?: string | null;
  /** Whether the row became a cause within the last 30 seconds. */
  readonly recent: boolean;
  /** The sort key of the row. A window begins after the place of an earlier row. */
  readonly place: readonly string[];
}

type UndecidedRow = SearchedRow &
  Pick<
    FlaggedWin,
    'providerId' | 'transactionId' | 'operatorId' | 'playerRef' | 'amountMinor' | 'currency'
  > & {
    readonly kind: string;
    /** When it was parked, as text from PostgreSQL, because a Date would lose the microseconds; null if it was not. */
    readonly parkedAt: string | null;
  };

type GrantRow = SearchedRow & GrantTerms & { readonly providerId: string; readonly batchId: string | null };
type FailedGrantRow = GrantRow & { readonly error: string | null; readonly outcomeUnknown: boolean };
type FailedExpiryRow = GrantRow & { readonly error: string | null };
type FailedCancelRow = GrantRow & { readonly batchId: string; readonly error: string };
type DuplicateGrantRow = GrantRow & { readonly duplicateOf: string };

interface RevocationRow extends SearchedRow {
  readonly providerId: string;
  readonly operatorId: string;
  readonly playerRef: string;
  readonly sessionId: string;
  /** Null if the outcome is not known. */
  readonly error: string | null;
}

/** The terms are null in a row that is `known`, which is never mapped to a cause. */
type ApprovalRow = SearchedRow & ActionTerms & { readonly approvalId: string; readonly operatorId: string };

export interface RowsBySearch {
  readonly parked: UndecidedRow;
  readonly undecided: UndecidedRow;
  readonly grants: FailedGrantRow;
  readonly expiries: FailedExpiryRow;
  readonly cancels: FailedCancelRow;
  readonly duplicates: DuplicateGrantRow;
  readonly revocations: RevocationRow;
  readonly approvals: ApprovalRow;
}
export type Search = keyof RowsBySearch;

export interface TenantPair {
  readonly operatorId: string;
  readonly providerId: string;
}

/** A batch with grants that need a person. */
export interface CountedBatch extends TenantPair {
  readonly batchId: string;
  readonly batchRef: string | null;
  readonly gameId: string;
  /** The number of these grants, at least 1. */
  readonly count: number;
  /** How many of them the provider may have granted although they failed. */
  readonly unknown: number;
}

/** Maps a row of a search to its cause. The cause of a grant of a batch has the batch's subject, but no count. */
export const causeOf: { readonly [Name in Search]: (row: RowsBySearch[Name]) => Cause } = {
  parked: undecidedTransaction,
  undecided: undecidedTransaction,
  grants: failedGrant,
  expiries: failedExpiry,
  cancels: failedCancel,
  duplicates: duplicateGrant,
  revocations: undeliveredRevocation,
  approvals: waitingApproval,
};

function undecidedTransaction(row: UndecidedRow): Cause {
  const { providerId, transactionId, operatorId, kind, playerRef, amountMinor, currency, parkedAt } = row;
  const why = parkedAt !== null ? 'the resolver has given up' : 'undecided for more than five minutes';
  return {
    kind: 'transaction',
    subject: subjectOf(providerId, transactionId),
    operatorId,
    providerId,
    summary: `${kind} ${transactionId} of ${transactionMoney(kind, amountMinor, currency)} for ${playerRef}: ${why}`,
    href: transactionHref(providerId, transactionId),
    ...(parkedAt !== null && { parkedAt }),
  };
}

function failedGrant(row: FailedGrantRow): Cause {
  const outcome = row.outcomeUnknown ? 'the provider may have granted it' : 'it was not granted';
  const cause = causeOfGrant(row, `failed${suffixOf(row)}; ${outcome}`);
  return row.batchId === null ? cause : { ...cause, subject: row.batchId };
}

function failedExpiry(row: FailedExpiryRow): Cause {
  const cause = causeOfGrant(row, `could not be cancelled at its expiresAt${suffixOf(row)}`);
  return row.batchId === null ? cause : { ...cause, subject: row.batchId + AFTER_BATCH_ID.expiry };
}

function failedCancel(row: FailedCancelRow): Cause {
  const cause = causeOfGrant(row, `could not be cancelled: ${row.error}`);
  return { ...cause, subject: row.batchId + AFTER_BATCH_ID.cancel };
}

const suffixOf = ({ error }: { error: string | null }) => (error === null ? '' : `: ${error}`);

/** The cause of all grants of a batch that need a person for the same reason. */
export function grantsOfBatch(
  what: GrantsOfBatch,
  { batchId, batchRef, operatorId, providerId, gameId, count, unknown }: CountedBatch,
): Cause {
  const grants = `${count} ${count === 1 ? 'grant' : 'grants'} of the batch ${batchRef ?? batchId} in ${gameId}`;
  const query = new URLSearchParams({ batchId, state: what === 'failed' ? 'FAILED' : 'GRANTED' });
  const outcome = unknown === 0 ? '' : `; the provider may have granted ${unknown} of them`;
  const happened = {
    failed: `failed${outcome}`,
    expiry: 'could not be cancelled at their expiresAt',
    cancel: 'could not be cancelled',
  }[what];
  return {
    kind: 'grant',
    subject: batchId + AFTER_BATCH_ID[what],
    operatorId,
    providerId,
    summary: `${grants} ${happened}`,
    count,
    href: `/v1/admin/free-spins?${query.toString()}`,
  };
}

function duplicateGrant(row: DuplicateGrantRow): Cause {
  const { duplicateOf } = row;
  const what =
    `is a duplicate: the provider answered with the externalRef of the grant ${duplicateOf}, in which all winnings ` +
    'count';
  return { ...causeOfGrant(row, what), duplicateOf };
}

function causeOfGrant(row: GrantRow, what: string): Cause {
  const { providerId, operatorId, requestRef, playerRef, gameId } = row;
  return {
    kind: 'grant',
    subject: requestRef,
    operatorId,
    providerId,
    summary: `grant of ${spinsOf(row)} to ${playerRef} in ${gameId} ${what}`,
    href: `/v1/admin/free-spins/${encodeURIComponent(requestRef)}`,
  };
}

function undeliveredRevocation(row: RevocationRow): Cause {
  const { providerId, operatorId, playerRef, sessionId, error } = row;
  const why = error ?? 'the outcome is not known';
  return {
    kind: 'revocation',
    subject: sessionId,
    operatorId,
    providerId,
    summary: `${providerId} did not confirm the revocation of a session of ${playerRef}: ${why}`,
    href: `/v1/admin/sessions/${sessionId}`,
  };
}

function waitingApproval(row: ApprovalRow): Cause {
  const { approvalId, operatorId } = row;
  return {
    kind: 'approval',
    subject: approvalId,
    operatorId,
    summary: `waits for approval: ${summaryOf(row)}`,
    href: `/v1/admin/approvals/${approvalId}`,
  };
}

export function flaggedWinnings(win: FlaggedWin): Cause {
  const { providerId, transactionId, operatorId, playerRef, amountMinor, currency, flag } = win;
  return {
    kind: 'winnings',
    subject: subjectOf(providerId, transactionId),
    operatorId,
    providerId,
    summary: `WIN ${transactionId} of ${money(amountMinor, currency)} for ${playerRef} is flagged ${flag}`,
    href: transactionHref(providerId, transactionId),
  };
}

/**
 * @param count at least 1
 * @param partial whether there may be more open rounds
 */
export function openRounds({ operatorId, providerId }: TenantPair, count: number, partial: boolean): Cause {
  const query = new URLSearchParams({ open: 'true', olderThanMinutes: '1440', operatorId, providerId });
  const rounds = count === 1 ? 'round has' : 'rounds have';
  return {
    kind: 'round',
    subject: subjectOf(providerId, operatorId),
    operatorId,
    providerId,
    summary: `${partial ? 'at least ' : ''}${count} ${rounds} been open for more than 24 hours`,
    count,
    href: `/v1/admin/rounds?${query.toString()}`,
  };
}

function transactionHref(providerId: string, transactionId: string): string {
  return `/v1/admin/transactions/${encodeURIComponent(providerId)}/${encodeURIComponent(transactionId)}`;
}
