import type { Decision } from './decision.js';
import { type Asked, type Facts, isTombstone, type SessionFacts, type StoredFacts } from './facts.js';
import { mayStillSettle } from './late-settlement.js';
import { decideRollback } from './rollback.js';
import { decideWin } from './win.js';

/**
 * Decides what one attempt comes to: first the session, then the configuration, then the table of what the
 * attempt finds. Contract, section 3, "States of a transaction", "Settling after the session".
 */
export function decide(
  asked: Asked,
  providerId: string,
  lateSettlementSeconds: number,
  facts: Facts,
): Decision {
  const { session, stored } = facts;
  if (!session) return refuse('SESSION_INVALID');
  const own = session.providerId === providerId;

  // A replay is not an attempt: a lost answer can always be learned.
  if (own && stored && isFinished(stored) && sameFingerprint(asked, session, stored)) return found(stored);

  const ended = session.endedSecondsAgo !== null;
  if (ended && !(own && mayStillSettle(asked, session.endedSecondsAgo, lateSettlementSeconds, facts.round))) {
    return refuse('SESSION_INVALID');
  }
  if (!own) return refuse('SESSION_OF_ANOTHER_PROVIDER');
  if (!agrees(asked, session)) return refuse('SESSION_MISMATCH');

  if (asked.kind === 'BET' && !session.gameActive) return refuse('GAME_NOT_CONFIGURED');
  if (asked.kind === 'BET' && !session.operatorActive) return refuse('OPERATOR_NOT_CONFIGURED');

  if (stored && !isTombstone(stored) && !sameFingerprint(asked, session, stored)) {
    return refuse('TRANSACTION_ID_REUSED');
  }
  if (stored) return found(stored);
  switch (asked.kind) {
    case 'BET':
      return { do: 'book' };
    case 'WIN':
      return decideWin(asked, facts.round);
    case 'ROLLBACK':
      return decideRollback(asked, session, facts.target, facts.round);
  }
}

/** The rows of the attempts' table for an id that is stored with the same fingerprint, or as a tombstone. */
function found(stored: StoredFacts): Decision {
  if (stored.state === 'ROLLED_BACK') return { do: 'decline-rolled-back' };
  if (stored.rollbackUndecided) return refuse('TRANSACTION_IN_FLIGHT');
  switch (stored.state) {
    case 'APPROVED':
    case 'DECLINED':
      return { do: 'replay', body: stored.responseBody ?? '' };
    case 'PENDING':
      return stored.leaseAlive ? refuse('TRANSACTION_IN_FLIGHT') : { do: 'retry', attempt: stored.attempt };
    case 'TIMED_OUT':
      return { do: 'retry', attempt: stored.attempt };
  }
}

function isFinished(stored: StoredFacts): boolean {
  return !isTombstone(stored) && stored.state !== 'PENDING' && stored.state !== 'TIMED_OUT';
}

/** Whether a stored transaction was asked for in the same words, as far as they move money. */
function sameFingerprint(asked: Asked, session: SessionFacts, stored: StoredFacts): boolean {
  return (
    stored.kind === asked.kind &&
    (asked.kind === 'ROLLBACK' || stored.amountMinor === asked.amountMinor) &&
    stored.currency === asked.currency &&
    stored.playerRef === asked.playerRef &&
    stored.gameId === asked.gameId &&
    stored.roundId === asked.roundId &&
    stored.originalTransactionId === (asked.originalTransactionId ?? null) &&
    stored.operatorId === session.operatorId &&
    stored.mode === session.mode
  );
}

function agrees(asked: Asked, session: SessionFacts): boolean {
  return (
    asked.playerRef === session.playerRef &&
    asked.gameId === session.gameId &&
    asked.currency === session.currency
  );
}

function refuse(code: Extract<Decision, { do: 'refuse' }>['code']): Decision {
  return { do: 'refuse', code };
}
