import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../../admin/requires-role.js';
import { SensitiveRead } from '../../audit/sensitive-read.js';
import { ApiErrors } from '../../http/api-errors.js';
import { UuidParam } from '../../http/path.js';
import { PageQuery } from '../../http/page.js';
import { ValidQuery } from '../../http/query.js';
import { SessionDesk } from '../../session/session-desk.service.js';
import { type RoundResponse, SessionDetailPage } from './session-detail.response.js';
import type { TransactionItem } from './transaction.admin.response.js';
import { TransactionDesk } from './transaction-desk.service.js';

/** A session with what was played in it: here, because a session knows nothing of money. Contract, section 7. */
@ApiTags('Administrators')
@Controller('v1/admin/sessions')
export class SessionDetailAdminController {
  constructor(
    private readonly sessions: SessionDesk,
    private readonly transactions: TransactionDesk,
  ) {}

  @Get(':sessionId')
  @RequiresRole('support')
  @SensitiveRead('session.read')
  @ApiOperation({
    summary: 'Read a session with its rounds and transactions',
    description: '`limit` and `cursor` page through the transactions, newest first.',
  })
  @ApiQuery({ type: PageQuery })
  @ApiOkResponse({ type: SessionDetailPage })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
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
  const rounds = new Map<string, RoundResponse>();
  for (const { roundId, transactionId, kind, state, amountMinor } of transactions) {
    if (roundId === undefined) continue;
    const round = rounds.get(roundId) ?? {
      roundId,
      betMinor: 0,
      wonMinor: 0,
      undecided: 0,
      transactionIds: [],
    };
    rounds.set(roundId, round);
    round.transactionIds.push(transactionId);
    if (state === 'PENDING' || state === 'TIMED_OUT') round.undecided += 1;
    if (state === 'APPROVED' && kind === 'BET') round.betMinor += amountMinor;
    if (state === 'APPROVED' && kind === 'WIN') round.wonMinor += amountMinor;
  }
  return [...rounds.values()];
}
