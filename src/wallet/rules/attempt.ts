import { decideBet } from './bet.js';
import type { Decision } from './decision.js';
import {
  type TransactionRequest,
  type Facts,
  isTombstone,
  isUndecided,
  type SessionFacts,
  type StoredFacts,
} from './facts.js';
import { mayStillSettle } from './late-settlement.js';
import { decideRollback } from './rollback.js';
import { decideWin } from './win.js';
import { sameWinKind } from './win-kind.js';

/**
 * Decides a request by the session, the configuration and what is stored under its id, in this order. The repetition
 * of a transaction that is decided, or whose attempt is under way, is answered even after the session has ended.
 * Contract, section 1, "Order of checks", and section 3, "An attempt and what it finds".
 *
 * wallet/fresh-claim.sql.ts and fresh-claim.store.ts repeat the conditions under which a new BET or WIN is booked.
 */
export function decide(request: TransactionRequest, facts: Facts): Decision {
  const { provider, session, stored } = facts;
  if (!session) return refuse('SESSION_INVALID');
  const own = session.providerId === provider.id;

  // Checked before the session and the configuration, so that a provider that lost the answer can fetch it at any time,
  // and none takes a transaction for refused that the operator is just booking.
  if (own && stored && !mayBeRetried(stored) && sameFingerprint(request, session, stored)) {
    return decideStored(stored);
  }

  const { endedSecondsAgo } = session;
  if (
    endedSecondsAgo !== null &&
    !(own && mayStillSettle(request, endedSecondsAgo, provider.lateSettlementSeconds, facts.round))
  ) {
    return refuse('SESSION_INVALID');
  }
  if (!own) return refuse('SESSION_OF_ANOTHER_PROVIDER');
  if (!agrees(request, session)) return refuse('SESSION_MISMATCH');

  if (request.kind === 'BET' && !session.gameActive) return refuse('GAME_NOT_CONFIGURED');
  if (request.kind === 'BET' && !session.operatorActive) return refuse('OPERATOR_NOT_CONFIGURED');
  if (request.kind === 'BET' && facts.pause) return { do: 'refuse-paused', pause: facts.pause };

  if (stored && !isTombstone(stored) && !sameFingerprint(request, session, stored)) {
    return refuse('TRANSACTION_ID_REUSED');
  }
  if (stored) return decideStored(stored);
  switch (request.kind) {
    case 'BET':
      return decideBet(request, session);
    case 'WIN':
      return decideWin(request, facts.round);
    case 'ROLLBACK':
      return decideRollback(request, session, facts.target, facts.round);
  }
}

/** The contract's table of attempts, for an id that is stored with the same fingerprint or as a tombstone. */
function decideStored(stored: StoredFacts): Decision {
  if (stored.state === 'ROLLED_BACK') return { do: 'decline-rolled-back' };
  if (stored.rollbackUndecided) return refuse('TRANSACTION_IN_FLIGHT');
  switch (stored.state) {
    case 'APPROVED':
    case 'DECLINED':
      return { do: 'replay', body: stored.responseBody! };
    case 'PENDING':
    case 'TIMED_OUT':
      return mayBeRetried(stored)
        ? { do: 'retry', attempt: stored.attempt }
        : refuse('TRANSACTION_IN_FLIGHT');
  }
}

/** Whether it is undecided, and no attempt is under way. */
function mayBeRetried({ state, leaseAlive }: StoredFacts): boolean {
  return isUndecided(state) && !leaseAlive;
}

/**
 * Whether the stored transaction has the request's fingerprint; a tombstone has none. Contract, section 3, "Transaction
 * request".
 */
function sameFingerprint(request: TransactionRequest, session: SessionFacts, stored: StoredFacts): boolean {
  return (
    stored.kind === request.kind &&
    (request.kind === 'ROLLBACK' || stored.amountMinor === request.amountMinor) &&
    stored.currency === request.currency &&
    stored.playerRef === request.playerRef &&
    stored.gameId === request.gameId &&
    stored.roundId === request.roundId &&
    stored.originalTransactionId === (request.originalTransactionId ?? null) &&
    sameWinKind(stored, request) &&
    stored.promotionRef === (request.promotionRef ?? null) &&
    stored.operatorId === session.operatorId &&
    stored.mode === session.mode
  );
}

function agrees(request: TransactionRequest, session: SessionFacts): boolean {
  return (
    request.playerRef === session.playerRef &&
    request.gameId === session.gameId &&
    request.currency === session.currency
  );
}

function refuse(code: Extract<Decision, { do: 'refuse' }>['code']): Decision {
  return { do: 'refuse', code };
}
