import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SessionItem } from '../../session/session.response.js';
import { NextCursor } from '../../api/lists/page.js';
import { TransactionItem } from './transaction.admin.response.js';

export class RoundResponse {
  @ApiProperty({ example: 'round-7' })
  roundId: string;
  @ApiPropertyOptional({
    type: 'integer',
    example: 250,
    description: 'Minor units: the sum of the APPROVED BETs on this page; absent above 2^53−1',
  })
  betMinor?: number;
  @ApiPropertyOptional({
    type: 'integer',
    example: 0,
    description: 'Minor units: the sum of the APPROVED WINs on this page; absent above 2^53−1',
  })
  wonMinor?: number;
  @ApiProperty({ type: 'integer', example: 0, description: 'Undecided transactions' })
  undecided: number;
  @ApiProperty({ type: [String], example: ['bet-1001'], description: 'transactionIds, newest first' })
  transactionIds: string[];
}

export class SessionDetailPage extends NextCursor {
  @ApiProperty({ type: SessionItem })
  session: SessionItem;
  @ApiProperty({
    type: [RoundResponse],
    description: 'The rounds of the transactions on this page, newest first',
  })
  rounds: RoundResponse[];
  @ApiProperty({
    type: [TransactionItem],
    description: "One page of the session's transactions, newest first",
  })
  transactions: TransactionItem[];
}
