import { isUuid } from '../api/validation/identifier.js';

export const ATTENTION_KINDS = [
  'transaction',
  'round',
  'grant',
  'winnings',
  'revocation',
  'approval',
  'reconciliation',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export const ATTENTION_STATES = ['OPEN', 'SNOOZED', 'CLOSED'] as const;
export type AttentionState = (typeof ATTENTION_STATES)[number];

/** The reason for an item. A cause has at most one item at a time. */
export interface Cause {
  readonly kind: AttentionKind;
  readonly subject: string;
  readonly operatorId?: string;
  readonly providerId?: string;
  readonly summary: string;
  readonly count?: number;
  readonly href?: string;
  /** When a parked transaction was parked, as text from PostgreSQL, because a Date would lose the microseconds. */
  readonly parkedAt?: string;
  readonly duplicateOf?: string;
  /** The time range of the reconciliation that has made the finding. */
  readonly range?: { readonly from: Date; readonly to: Date };
}

/**
 * Builds a subject from a provider's id and an id that is unique within that provider. A provider's id contains no
 * slash, so `partsOf` can split the subject.
 */
export function subjectOf(providerId: string, id: string): string {
  return `${providerId}/${id}`;
}

/** Splits a subject that `subjectOf` has built. The parts of any other subject are meaningless. */
export function partsOf(subject: string): { readonly providerId: string; readonly id: string } {
  const slash = subject.indexOf('/');
  return { providerId: subject.slice(0, slash), id: subject.slice(slash + 1) };
}

/**
 * What follows the batchId in the subject of a batch's grants that are FAILED, that could not be cancelled at their
 * expiresAt, or whose cancel failed before.
 */
export const AFTER_BATCH_ID = { failed: '', expiry: '/expiry', cancel: '/cancel' } as const;
export type GrantsOfBatch = keyof typeof AFTER_BATCH_ID;

/**
 * The batch that the subject of a grant's item may name, and which of its grants the item is about. Undefined if the
 * subject can only be a requestRef.
 */
export function batchOf(
  subject: string,
): { readonly batchId: string; readonly what: GrantsOfBatch } | undefined {
  const batchId = subject.split('/', 1)[0]!;
  const ending = subject.slice(batchId.length);
  const what = (Object.keys(AFTER_BATCH_ID) as GrantsOfBatch[]).find((key) => AFTER_BATCH_ID[key] === ending);
  return what && isUuid(batchId) ? { batchId, what } : undefined;
}
