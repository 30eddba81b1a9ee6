import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { UuidParam } from '../../api/validation/path.js';
import { PageQuery } from '../../api/lists/page.js';
import { ValidQuery } from '../../api/validation/query.js';
import { SessionService } from '../../session/session.service.js';
import { type RoundResponse, SessionDetailPage } from './session-detail.response.js';
import type { TransactionItem } from './transaction.admin.response.js';
import { TransactionDesk } from './transaction-desk.service.js';

/**
 * Shows a session with its rounds and transactions. It is in this room because `session/` must not depend on `wallet/`.
 * Contract, section 7.
 */
@ApiTags('Sessions')
@Controller('v1/admin/sessions')
export class SessionDetailAdminController {
  constructor(
    private readonly sessions: SessionService,
    private readonly transactions: TransactionDesk,
  ) {}

  @Get(':sessionId')
  @AdminRoute('getSession', {
    role: 'auditor',
    summary: 'Read a session with its rounds and transactions',
    description: '`limit` and `cursor` page through the transactions, newest first.',
    sensitiveRead: ['session.read', 'session:{sessionId}'],
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  })
  @ApiQuery({ type: PageQuery })
  @ApiOkResponse({ type: SessionDetailPage })
  async find(
    @UuidParam('sessionId') sessionId: string,
    @ValidQuery() query: PageQuery,
  ): Promise<SessionDetailPage> {
    const session = await this.sessions.find(sessionId);
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
    undecided: transactions.filter(({ state }) => state === 'PENDING' || state === 'TIMED_OUT').length,
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
