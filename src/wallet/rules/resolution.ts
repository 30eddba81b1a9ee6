import { isUndecided, type StoredFacts } from './facts.js';

/** The facts that decide how a transaction is resolved. */
export interface UndecidedFacts extends StoredFacts {
  /** How many of the platform's own ROLLBACKs of this BET the operator has DECLINED. */
  readonly declinedEndings: number;
}

type Resolution =
  /** There is nothing to do: it is decided, or an attempt is in progress. */
  | { readonly do: 'leave'; readonly because: 'decided' | 'in-flight' }
  /** Send it again unchanged. */
  | { readonly do: 'resend' }
  /** End a BET with a ROLLBACK of the platform's own; `ordinal` is the number of earlier ones that were DECLINED. */
  | { readonly do: 'end'; readonly ordinal: number }
  /** A ROLLBACK of this transaction is undecided. Resolve that ROLLBACK: it also decides this transaction. */
  | { readonly do: 'follow'; readonly rollbackId: string }
  /** Only a person may try again. */
  | { readonly do: 'park' };

/**
 * Decides how to resolve a transaction. A BET is ended with a ROLLBACK and never sent again, because its provider has
 * not received an approval and may have abandoned the BET. A BET that the platform itself has declined only lacks the
 * balance, which is read again. Contract, section 3, "Undecided transactions without a
 * retry".
 * @param byPerson whether a person requested it: only then does the platform send another ROLLBACK after a DECLINED one
 */
export function decideResolution(stored: UndecidedFacts, byPerson: boolean): Resolution {
  if (!isUndecided(stored.state)) return { do: 'leave', because: 'decided' };
  if (stored.rollbackUndecided && stored.rollbackId !== null) {
    return { do: 'follow', rollbackId: stored.rollbackId };
  }
  if (stored.leaseAlive) return { do: 'leave', because: 'in-flight' };
  if (stored.kind !== 'BET' || stored.ownVerdict) return { do: 'resend' };
  if (stored.declinedEndings > 0 && !byPerson) return { do: 'park' };
  return { do: 'end', ordinal: stored.declinedEndings };
}
