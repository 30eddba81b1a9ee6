import type { StoredFacts } from './facts.js';

/** What is known of a transaction that nobody retries. */
export interface UndecidedFacts extends StoredFacts {
  /** How many ROLLBACKs of the platform's own the operator has DECLINED for this BET. */
  readonly declinedEndings: number;
}

export type Resolution =
  /** Nothing waits for a decision. */
  | { readonly do: 'leave'; readonly because: 'decided' | 'in-flight' }
  /** Send it again as it is. */
  | { readonly do: 'resend' }
  /** A BET: end it by a ROLLBACK of the platform's own, the `ordinal`-th after those that were DECLINED. */
  | { readonly do: 'end'; readonly ordinal: number }
  /** Its ROLLBACK decides it: that one is driven. */
  | { readonly do: 'follow'; readonly rollbackId: string }
  /** Only a person may try more. */
  | { readonly do: 'park' };

/**
 * What resolving does with a transaction. A BET is never sent again by itself: nobody was told that it holds,
 * and nobody may be waiting to play it. Contract, section 3, "What nobody retries".
 * @param byPerson the operator gets another ROLLBACK id after a DECLINED one only by a person's decision
 */
export function decideResolution(stored: UndecidedFacts, byPerson: boolean): Resolution {
  if (stored.state !== 'PENDING' && stored.state !== 'TIMED_OUT') return { do: 'leave', because: 'decided' };
  if (stored.rollbackUndecided && stored.rollbackId !== null) {
    return { do: 'follow', rollbackId: stored.rollbackId };
  }
  if (stored.leaseAlive) return { do: 'leave', because: 'in-flight' };
  if (stored.kind !== 'BET') return { do: 'resend' };
  if (stored.declinedEndings > 0 && !byPerson) return { do: 'park' };
  return { do: 'end', ordinal: stored.declinedEndings };
}
