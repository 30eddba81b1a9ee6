import { CATALOGUE } from '../../errors/catalogue.js';
import { decideBet } from './bet.js';
import type { Decision } from './decision.js';
import { differing } from './differing.js';
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
  if (own && stored && !mayBeRetried(stored) && differencesOf(request, session, stored).length === 0) {
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
  const mismatches = mismatchesOf(request, session);
  if (mismatches.length > 0) return refuse('SESSION_MISMATCH', `in ${mismatches.join(', ')}`);

  if (request.kind === 'BET' && !session.gameActive) return refuse('GAME_NOT_CONFIGURED');
  if (request.kind === 'BET' && !session.operatorActive) return refuse('OPERATOR_NOT_CONFIGURED');
  if (request.kind === 'BET' && facts.pause) return { do: 'refuse-paused', pause: facts.pause };

  const differences = stored && !isTombstone(stored) ? differencesOf(request, session, stored) : [];
  if (differences.length > 0) {
    return refuse('TRANSACTION_ID_REUSED', `that differs in ${differences.join(', ')}`);
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
 * The parts of the fingerprint in which the request differs from the stored transaction; a tombstone has none. Contract,
 * section 3, "Transaction request".
 */
function differencesOf(request: TransactionRequest, session: SessionFacts, stored: StoredFacts): string[] {
  return differing({
    kind: stored.kind === request.kind,
    amountMinor: request.kind === 'ROLLBACK' || stored.amountMinor === request.amountMinor,
    currency: stored.currency === request.currency,
    playerRef: stored.playerRef === request.playerRef,
    gameId: stored.gameId === request.gameId,
    roundId: stored.roundId === request.roundId,
    originalTransactionId: stored.originalTransactionId === (request.originalTransactionId ?? null),
    winKind: sameWinKind(stored, request),
    promotionRef: stored.promotionRef === (request.promotionRef ?? null),
    operator: stored.operatorId === session.operatorId,
    mode: stored.mode === session.mode,
  });
}

/** The fields in which the request differs from its session. */
function mismatchesOf(request: TransactionRequest, session: SessionFacts): string[] {
  return differing({
    playerRef: request.playerRef === session.playerRef,
    gameId: request.gameId === session.gameId,
    currency: request.currency === session.currency,
  });
}

/** @param detail appended to the message of the catalogue */
function refuse(code: Extract<Decision, { do: 'refuse' }>['code'], detail?: string): Decision {
  if (detail === undefined) return { do: 'refuse', code };
  return { do: 'refuse', code, message: `${CATALOGUE[code].message} ${detail}` };
}
