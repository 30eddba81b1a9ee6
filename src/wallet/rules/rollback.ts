import type { Decision, DeclineReason, Verdict } from './decision.js';
import { differing } from './differing.js';
import {
  type TransactionRequest,
  isTombstone,
  type RoundFacts,
  type SessionFacts,
  type StoredFacts,
} from './facts.js';
import { isPlatformId } from './platform-id.js';

/** Decides a new ROLLBACK by its target. Contract, section 3, "A ROLLBACK". */
export function decideRollback(
  request: TransactionRequest,
  session: SessionFacts,
  target: StoredFacts | null,
  round: RoundFacts,
): Decision {
  if (request.originalTransactionId === request.transactionId) return invalid('is the ROLLBACK itself');
  if (!target) return reverseUnknown(request);
  const differences = differencesOf(request, session, target);
  if (differences.length > 0) {
    const message = `originalTransactionId names a transaction that differs in ${differences.join(', ')}`;
    return { do: 'refuse', code: 'SESSION_MISMATCH', message };
  }
  const tombstone = isTombstone(target);
  if (!tombstone && request.amountMinor !== undefined && request.amountMinor !== target.amountMinor) {
    return { do: 'refuse', code: 'INVALID_REQUEST', message: "amountMinor must be the BET's" };
  }
  if (!tombstone && target.kind !== 'BET') return declined('NOT_ROLLBACKABLE');
  if (target.leaseAlive || target.rollbackUndecided) return { do: 'refuse', code: 'TRANSACTION_IN_FLIGHT' };
  if (tombstone && target.rollbackId === null) {
    return { do: 'reverse', target: { found: 'tombstone' }, amountMinor: request.amountMinor ?? 0 };
  }
  switch (target.state) {
    case 'ROLLED_BACK':
    case 'DECLINED':
      return conclude({ status: 'APPROVED' });
    case 'APPROVED':
      if (round.winApproved) return declined('ROUND_ALREADY_SETTLED');
      if (round.winUndecided) return { do: 'refuse', code: 'TRANSACTION_IN_FLIGHT' };
      return reverse(target);
    case 'PENDING':
    case 'TIMED_OUT':
      // The platform itself has declined such a BET, and the operator has never received it.
      return target.ownVerdict ? conclude({ status: 'APPROVED' }) : reverse(target);
  }
}

function reverseUnknown({ originalTransactionId = '', amountMinor = 0 }: TransactionRequest): Decision {
  // The tombstone would take the id with which the platform ends a BET.
  if (isPlatformId(originalTransactionId)) return invalid("is reserved for the platform's own ROLLBACKs");
  return { do: 'reverse', target: { found: 'nothing' }, amountMinor };
}

function invalid(problem: string): Decision {
  return { do: 'refuse', code: 'INVALID_REQUEST', message: `originalTransactionId ${problem}` };
}

function reverse(target: StoredFacts): Decision {
  return {
    do: 'reverse',
    target: { found: 'bet', attempt: target.attempt, approved: target.state === 'APPROVED' },
    amountMinor: target.amountMinor,
  };
}

function declined(declineReason: DeclineReason): Decision {
  return conclude({ status: 'DECLINED', declineReason });
}

function conclude(verdict: Verdict): Decision {
  return { do: 'conclude', verdict };
}

/** The fields in which the target is of another round or currency than the request. */
function differencesOf(request: TransactionRequest, session: SessionFacts, target: StoredFacts): string[] {
  return differing({
    playerRef: target.playerRef === session.playerRef,
    gameId: target.gameId === session.gameId,
    currency: target.currency === session.currency,
    roundId: target.roundId === request.roundId,
    operator: target.operatorId === session.operatorId,
    mode: target.mode === session.mode,
  });
}
