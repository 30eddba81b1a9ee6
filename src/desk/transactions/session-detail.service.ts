import { Injectable } from '@nestjs/common';
import type { PageQuery } from '../../api/lists/page.js';
import { SessionService } from '../../session/session.service.js';
import { isUndecided } from '../../wallet/rules/facts.js';
import type { RoundResponse, SessionDetailPage } from './session-detail.response.js';
import type { TransactionItem } from './transaction.admin.response.js';
import { TransactionDesk } from './transaction-desk.service.js';

/** A session with its rounds and transactions. */
@Injectable()
export class SessionDetails {
  constructor(
    private readonly sessions: SessionService,
    private readonly transactions: TransactionDesk,
  ) {}

  /**
   * @param operatorId undefined for a session of any operator
   * @throws CroupierError NOT_FOUND · INVALID_REQUEST
   */
  async page(sessionId: string, query: PageQuery, operatorId?: string): Promise<SessionDetailPage> {
    const session = await this.sessions.find(sessionId, operatorId);
    const { items, ...rest } = await this.transactions.ofSession(session, query);
    return { session, rounds: roundsOf(items), transactions: items, ...rest };
  }
}

function roundsOf(transactions: readonly TransactionItem[]): RoundResponse[] {
  const rounds = new Map<string, TransactionItem[]>();
  for (const transaction of transactions) {
    const { roundId } = transaction;
    if (roundId === undefined) continue;
    const round = rounds.get(roundId) ?? [];
    rounds.set(roundId, round);
    round.push(transaction);
  }
  return [...rounds].map(([roundId, round]) => roundOf(roundId, round));
}

function roundOf(roundId: string, transactions: readonly TransactionItem[]): RoundResponse {
  const betMinor = sumOfApproved('BET', transactions);
  const wonMinor = sumOfApproved('WIN', transactions);
  return {
    roundId,
    ...(betMinor !== undefined && { betMinor }),
    ...(wonMinor !== undefined && { wonMinor }),
    undecided: transactions.filter(({ state }) => isUndecided(state)).length,
    transactionIds: transactions.map(({ transactionId }) => transactionId),
  };
}

/**
 * The sum in minor units; undefined if it exceeds 2^53−1. It is enough to check the final sum: no amount is negative,
 * so a sum above the limit stays above it.
 */
function sumOfApproved(kind: 'BET' | 'WIN', transactions: readonly TransactionItem[]): number | undefined {
  const sum = transactions
    .filter((transaction) => transaction.kind === kind && transaction.state === 'APPROVED')
    .reduce((minor, { amountMinor }) => minor + amountMinor, 0);
  return Number.isSafeInteger(sum) ? sum : undefined;
}
