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

/** Something that waits for a person. Contract, section 9, "Attention". */
export interface Attention {
  readonly id: string;
  readonly kind: AttentionKind;
  /** Identifies the cause among those of its kind. */
  readonly subject: string;
  readonly state: AttentionState;
  readonly operatorId: string | null;
  readonly providerId: string | null;
  readonly summary: string;
  /** Of a round item: the number of open rounds. */
  readonly count: number | null;
  /** The path of the cause in this API. */
  readonly href: string | null;
  readonly assignee: string | null;
  readonly snoozedUntil: Date | null;
  readonly closedAt: Date | null;
  readonly closedBy: string | null;
  readonly closedByName: string | null;
  readonly reason: string | null;
  readonly createdAt: Date;
}

export type AttentionEventName =
  'opened' | 'assigned' | 'unassigned' | 'snoozed' | 'woken' | 'commented' | 'closed';

/** An entry in the history of an item. */
export interface AttentionEvent {
  readonly event: AttentionEventName;
  readonly actor: string;
  readonly actorName: string | null;
  readonly text: string | null;
  readonly at: Date;
}

/** A reason for an item. An item is opened only if the cause has none. */
export interface Cause {
  readonly kind: AttentionKind;
  readonly subject: string;
  readonly operatorId?: string;
  readonly providerId?: string;
  readonly summary: string;
  readonly count?: number;
  readonly href?: string;
  /**
   * For a parked transaction: when it was parked, as formatted by PostgreSQL, because a Date would lose the
   * microseconds.
   */
  readonly parkedAt?: string;
  /** For a finding of a reconciliation: the time range that was compared. */
  readonly range?: { readonly from: Date; readonly to: Date };
}

/** The subject for an id that is unique per provider. A provider's id contains no slash. */
export function subjectOf(providerId: string, id: string): string {
  return `${providerId}/${id}`;
}

/** The two parts of a subject that `subjectOf` has built. */
export function partsOf(subject: string): { readonly providerId: string; readonly id: string } {
  const slash = subject.indexOf('/');
  return { providerId: subject.slice(0, slash), id: subject.slice(slash + 1) };
}
