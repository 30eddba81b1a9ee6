import type {
  Facts,
  Kind,
  RoundFacts,
  SessionFacts,
  StoredFacts,
  TransactionRequest,
} from '../../src/wallet/rules/facts.js';

/** The usual request, session, round and stored transaction, with the changes of a case. */

export const SESSION: SessionFacts = {
  sessionId: 'session-1',
  operatorId: 'operator-1',
  providerId: 'provider-1',
  playerRef: 'player-1',
  gameId: 'game-1',
  currency: 'EUR',
  mode: 'REAL',
  maxBetMinor: null,
  endedSecondsAgo: null,
  gameActive: true,
  operatorActive: true,
};

export const EMPTY_ROUND: RoundFacts = {
  version: 0,
  winApproved: false,
  winUndecided: false,
  betStands: false,
  betUndecided: false,
  betRolledBack: false,
  betOfSession: false,
};

export function requestOf(kind: Kind, changes: Partial<TransactionRequest> = {}): TransactionRequest {
  return {
    transactionId: 'transaction-1',
    kind,
    playerRef: 'player-1',
    gameId: 'game-1',
    currency: 'EUR',
    roundId: 'round-1',
    ...(kind === 'ROLLBACK' ? { originalTransactionId: 'bet-1' } : { amountMinor: 100 }),
    ...changes,
  };
}

export function storedOf(kind: Kind | null, changes: Partial<StoredFacts> = {}): StoredFacts {
  return {
    transactionId: 'transaction-1',
    kind,
    state: kind === null ? 'ROLLED_BACK' : 'APPROVED',
    operatorId: 'operator-1',
    mode: 'REAL',
    playerRef: 'player-1',
    gameId: 'game-1',
    currency: 'EUR',
    amountMinor: 100,
    roundId: 'round-1',
    originalTransactionId: kind === 'ROLLBACK' ? 'bet-1' : null,
    freeSpinsRef: null,
    winKind: null,
    promotionRef: null,
    ownVerdict: false,
    attempt: kind === null ? 0 : 1,
    leaseAlive: false,
    rollbackId: null,
    rollbackUndecided: false,
    responseBody: '{"stored":true}',
    ...changes,
  };
}

export function factsOf(changes: Partial<Facts> = {}): Facts {
  return {
    provider: { id: 'provider-1', lateSettlementSeconds: 60 },
    session: SESSION,
    stored: null,
    target: null,
    round: EMPTY_ROUND,
    pause: null,
    ...changes,
  };
}
